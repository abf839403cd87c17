import { CHECKPOINT_POINTERS } from "../../../graph-runtime/protocol.ts";
import { toIso } from "../../../lib/time.ts";
import type { RunKwargs } from "./run-request.ts";
import type { RunRow } from "../storage/run-row.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { TtlColumns } from "../storage/thread-ttl.ts";

/** The delivery state of a run's webhook, as stored with the run. */
export type WebhookRecord = {
  webhook: string;
  /**
   * "waiting": the run has not ended. "pending": the run has ended, but the receiver has not accepted the webhook
   * yet.
   */
  status: "waiting" | "pending" | "delivered" | "failed";
  attempts: number;
  /** Epoch milliseconds. */
  last_attempt_at: number | null;
  /** The error of the latest attempt, if it failed. */
  error: string | null;
};

/** Returns the stored record of a new run's webhook as JSON text; null if the run has no webhook. */
export function storedWebhook(webhook: string | undefined): string | null {
  if (webhook === undefined) return null;
  const facts = { attempts: 0, last_attempt_at: null, error: null };
  const record: WebhookRecord = { webhook, status: "waiting", ...facts };
  return JSON.stringify(record);
}

/** The delivery state as the API shows it on the run. */
type WebhookDelivery = Omit<WebhookRecord, "webhook" | "last_attempt_at"> & {
  last_attempt_at: string | null;
};

/** A thread as the API shows it. */
export type Thread = {
  thread_id: string;
  created_at: string;
  updated_at: string;
  state_updated_at: string;
  metadata: Record<string, unknown>;
  status: ThreadRow["status"];
  config: Record<string, unknown>;
  values: unknown;
  interrupts: Record<string, unknown[]>;
  error: unknown;
  /** Present only on request; null if the thread does not expire. */
  ttl?: TtlJson | null;
};

type TtlJson = { strategy: string; ttl_minutes: number; expires_at: string | null };

/** The columns from which a thread is shown, whether the row comes from the thread's own storage or the index. */
type ShownColumns = Pick<
  ThreadRow,
  | "thread_id"
  | "created_at"
  | "updated_at"
  | "state_updated_at"
  | "metadata"
  | "status"
  | "config"
  | "interrupts"
  | "error"
>;

export function toThreadJson(row: ShownColumns, values: string | null): Thread {
  return {
    thread_id: row.thread_id,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    state_updated_at: toIso(row.state_updated_at),
    metadata: JSON.parse(row.metadata),
    status: row.status,
    config: JSON.parse(row.config),
    values: values === null ? null : JSON.parse(values),
    interrupts: JSON.parse(row.interrupts),
    error: row.error === null ? null : JSON.parse(row.error),
  };
}

export function toTtlJson({ ttl_strategy, ttl_minutes, expires_at }: TtlColumns): TtlJson | null {
  if (ttl_strategy === null || ttl_minutes === null) return null;
  return {
    strategy: ttl_strategy,
    ttl_minutes,
    expires_at: expires_at === null ? null : toIso(expires_at),
  };
}

/** A run as the API shows it. */
export type Run = {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  created_at: string;
  updated_at: string;
  metadata: Record<string, unknown>;
  status: RunRow["status"];
  kwargs: Record<string, unknown>;
  multitask_strategy: RunRow["multitask_strategy"];
  /** Present if the run has a webhook. */
  webhook_delivery?: WebhookDelivery;
};

export function toRunJson(row: RunRow, threadId: string, kwargs: RunKwargs | null): Run {
  return {
    run_id: row.run_id,
    thread_id: threadId,
    assistant_id: row.assistant_id,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    metadata: JSON.parse(row.metadata),
    status: row.status,
    kwargs: kwargs === null ? {} : publicKwargs(kwargs),
    multitask_strategy: row.multitask_strategy,
    ...(row.webhook === null ? {} : { webhook_delivery: deliveryOf(row.webhook) }),
  };
}

function deliveryOf(text: string): WebhookDelivery {
  const { webhook: _address, last_attempt_at: at, ...rest } = JSON.parse(text) as WebhookRecord;
  return { ...rest, last_attempt_at: at === null ? null : toIso(at) };
}

function publicKwargs({
  stream_subgraphs,
  stream_mode,
  feedback_keys,
  langsmith_tracer,
  ...kwargs
}: RunKwargs): Record<string, unknown> {
  const modes = stream_mode.filter((mode) => mode !== CHECKPOINT_POINTERS);
  return {
    ...kwargs,
    ...(feedback_keys ? { feedback_keys } : {}),
    ...(langsmith_tracer ? { langsmith_tracer } : {}),
    stream_mode: modes,
    subgraphs: stream_subgraphs,
  };
}
