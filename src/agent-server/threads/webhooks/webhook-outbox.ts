import { toRunJson, type WebhookRecord } from "../contract/thread-json.ts";
import type { RunRow } from "../storage/run-row.ts";
import { kwargsText } from "../storage/run-kwargs.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import { toIso } from "../../../lib/time.ts";
import type { RunKwargs } from "../contract/run-request.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** The pauses after failed attempts. When they are used up, after about an hour, the webhook is given up. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  15 * MINUTE_MS,
  25 * MINUTE_MS,
];

const MAX_ATTEMPTS = RETRY_DELAYS_MS.length + 1;

/** Maximum number of concurrent attempts, because each holds its payload in memory. */
const MAX_AT_ONCE = 3;

/** Maximum characters of an error that are stored. */
const MAX_ERROR_CHARS = 500;

const PENDING = "webhook:";
const PAYLOAD = "webhook-payload:";

/** A webhook that is still to be delivered. Its delivery state is stored with its run. */
type Pending = { run_id: string; due_at: number };

export type OutgoingWebhook = { run: RunRow; webhook: string; payload: string };

type WebhookOutboxDeps = {
  storage: ThreadStorage;
  /** Makes one attempt within `attemptLimitMs`; resolves to null if the receiver has accepted it. Never rejects. */
  send: (outgoing: OutgoingWebhook) => Promise<{ error: string; isFinal: boolean } | null>;
  attemptLimitMs: number;
  now: () => number;
  /** Called when an attempt has ended: the alarm may be out of date, and the thread may have waited for this. */
  onAttempt: () => void;
  onGivenUp: (run: RunRow, record: WebhookRecord) => void;
};

/**
 * The webhooks that are still to be delivered: an outbox in the thread's storage. An attempt is recorded before it
 * is made, with the time of the next one, so that an attempt whose process dies is counted and repeated. A webhook
 * that was delivered, but could not be recorded as delivered, is therefore delivered again, with the same id.
 */
export class WebhookOutbox {
  readonly #deps: WebhookOutboxDeps;
  readonly #storage: ThreadStorage;
  /** Runs whose webhooks are being sent. */
  readonly #active = new Set<string>();
  /** The stored webhooks; null if they must be read, because they may have changed. */
  #pending: readonly Pending[] | null = null;

  constructor(deps: WebhookOutboxDeps) {
    this.#deps = deps;
    this.#storage = deps.storage;
  }

  /**
   * Adds the webhook of a run that has ended. Must be called in the transaction that ends the run, after the
   * thread's state was set.
   */
  add(ended: RunRow): void {
    if (ended.webhook === null) return;
    const { runs, thread, texts } = this.#storage;
    const { run_id } = ended;
    const row = runs.get(run_id);
    if (row === null) return;
    const payload = webhookPayload(row, {
      threadId: thread.get().thread_id,
      kwargs: kwargsText(texts, row),
      values: thread.values(),
    });
    texts.set(PAYLOAD + run_id, payload);
    this.#record(row, { ...recordOf(ended.webhook), status: "pending" });
    this.#wait({ run_id, due_at: this.#deps.now() });
  }

  /** Removes the webhook of a run that is being removed. Must be called in a transaction. */
  forget({ run_id, webhook }: RunRow): void {
    if (webhook !== null) this.#remove(run_id);
  }

  isEmpty(): boolean {
    return this.#all().length === 0;
  }

  /** Returns when the alarm is due; null if no webhook is waiting. */
  nextDue(): number | null {
    const isFull = this.#active.size >= MAX_AT_ONCE;
    // If all slots are in use, the other webhooks need no alarm: the first attempt that ends starts them.
    const due = this.#all().filter(({ run_id }) => !isFull || this.#active.has(run_id));
    return due.length === 0 ? null : Math.min(...due.map(({ due_at }) => due_at));
  }

  /** Starts the attempts that are due, as far as there are free slots. The alarm must be set afterwards. */
  deliver(): void {
    const now = this.#deps.now();
    const due = this.#all()
      .filter(({ run_id, due_at }) => due_at <= now && !this.#active.has(run_id))
      .slice(0, MAX_AT_ONCE - this.#active.size);
    for (const { run_id } of due) this.#begin(run_id);
  }

  #begin(runId: string): void {
    const run = this.#storage.runs.get(runId);
    const payload = this.#storage.texts.get(PAYLOAD + runId);
    if (run === null || run.webhook === null || payload === null) {
      this.#change(() => this.#remove(runId));
      return;
    }
    const record = recordOf(run.webhook);
    if (record.attempts >= MAX_ATTEMPTS) {
      this.#change(() => this.#giveUp(run, { ...record, error: "The last attempt was cut off" }));
      return;
    }
    const now = this.#deps.now();
    const attempt = { ...record, attempts: record.attempts + 1, last_attempt_at: now };
    this.#change(() => {
      this.#record(run, attempt);
      const pause = RETRY_DELAYS_MS[record.attempts] ?? 0;
      this.#wait({ run_id: runId, due_at: now + this.#deps.attemptLimitMs + pause });
    });
    this.#active.add(runId);
    void this.#attempt(run, attempt, payload);
  }

  async #attempt(run: RunRow, record: WebhookRecord, payload: string): Promise<void> {
    const { webhook } = record;
    // A receiver may read the thread, so the state that it is notified of must be on disk.
    await this.#storage.durable();
    if (!this.#storage.exists) {
      this.#active.delete(run.run_id);
      return;
    }
    const failure = await this.#deps.send({ run, webhook, payload });
    this.#active.delete(run.run_id);
    this.#change(() => this.#note(run, record, failure));
    this.#deliverNext();
  }

  #deliverNext(): void {
    if (this.#storage.exists) this.deliver();
    this.#deps.onAttempt();
  }

  #note(
    { run_id }: RunRow,
    record: WebhookRecord,
    failure: { error: string; isFinal: boolean } | null,
  ): void {
    const run = this.#storage.runs.get(run_id);
    if (run === null) return;
    if (failure === null) {
      this.#record(run, { ...record, status: "delivered", error: null });
      this.#remove(run_id);
      return;
    }
    const failed = { ...record, error: failure.error.slice(0, MAX_ERROR_CHARS) };
    const pause = RETRY_DELAYS_MS[record.attempts - 1];
    if (failure.isFinal || pause === undefined) {
      this.#giveUp(run, failed);
      return;
    }
    this.#record(run, failed);
    this.#wait({ run_id, due_at: this.#deps.now() + pause });
  }

  #giveUp(run: RunRow, record: WebhookRecord): void {
    const failed = { ...record, status: "failed" } as const;
    this.#record(run, failed);
    this.#remove(run.run_id);
    this.#deps.onGivenUp(run, failed);
  }

  #change(change: () => void): void {
    if (this.#storage.exists) this.#storage.transaction(change);
  }

  #record({ seq }: RunRow, record: WebhookRecord): void {
    this.#storage.runs.setWebhook(seq, JSON.stringify(record));
  }

  #wait(pending: Pending): void {
    this.#storage.texts.set(PENDING + pending.run_id, JSON.stringify(pending));
    this.#pending = null;
  }

  #remove(runId: string): void {
    this.#storage.texts.delete(PENDING + runId);
    this.#storage.texts.delete(PAYLOAD + runId);
    this.#pending = null;
  }

  #all(): readonly Pending[] {
    if (!this.#storage.exists) return [];
    this.#pending ??= this.#storage.texts
      .withPrefix(PENDING)
      .map((text) => JSON.parse(text) as Pending);
    return this.#pending;
  }
}

function recordOf(webhook: string): WebhookRecord {
  return JSON.parse(webhook) as WebhookRecord;
}

/**
 * Maximum characters of a run's input and of its thread's values; longer ones are left out. Each attempt has the
 * whole payload in memory, in addition to the run that is executing then.
 */
const MAX_MEMBER_CHARS = 4 * 1024 * 1024;

/**
 * Returns the JSON text of the payload: the run as the API shows it when it has ended, the times of its start and
 * end, the state that it left, and its error. `kwargs` and `values` are JSON texts, or null.
 */
function webhookPayload(
  row: RunRow,
  { threadId, kwargs, values }: { threadId: string; kwargs: string | null; values: string | null },
): string {
  const tooLong = { kwargs: isTooLong(kwargs), values: isTooLong(values) };
  const omitted = Object.entries(tooLong).flatMap(([name, isOmitted]) => (isOmitted ? name : []));
  const given: RunKwargs | null =
    kwargs === null || tooLong.kwargs ? null : (JSON.parse(kwargs) as RunKwargs);
  const { webhook_delivery: _own, ...run } = toRunJson(row, threadId, given);
  const facts = {
    ...run,
    run_started_at: row.started_at === null ? null : toIso(row.started_at),
    run_ended_at: row.ended_at === null ? null : toIso(row.ended_at),
    ...(row.error === null ? {} : { error: JSON.parse(row.error) as unknown }),
    ...(omitted.length === 0 ? {} : { omitted }),
  };
  const shown = tooLong.values ? "null" : (values ?? "{}");
  return `${JSON.stringify(facts).slice(0, -1)},"values":${shown}}`;
}

function isTooLong(json: string | null): boolean {
  return json !== null && json.length > MAX_MEMBER_CHARS;
}
