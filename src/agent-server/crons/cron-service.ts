import { v7 as uuidv7 } from "uuid";
import {
  countCrons,
  type CronFilter,
  type CronKey,
  type CronRow,
  deleteCron,
  findCron,
  insertCron,
  replaceCron,
  searchCrons,
} from "../../db/crons-repo.ts";
import type { Page } from "../../http/pagination.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { jsonListOf, type JsonText } from "../../lib/json-answer.ts";
import { optionalMillis, toIso } from "../../lib/time.ts";
import type { AgentCall } from "../agent-call.ts";
import { toAssistantId } from "../assistants/assistant-id.ts";
import { resolveAssistant } from "../assistants/resolve-assistant.ts";
import { type Access, authorize } from "../auth/authorize.ts";
import { threadFor } from "../auth/thread-access.ts";
import { threadFailure } from "../threads/contract/failures.ts";
import { assertWebhook } from "../webhooks/allowed-webhook.ts";
import {
  type CronCount,
  type CronCreate,
  type CronJson,
  type CronPatch,
  type CronSearch,
  toCronJson,
} from "./schemas.ts";
import { type CronTimes, nextTick } from "./schedule.ts";

/** Maximum crons per deployment, because all deployments share one sweep a minute. */
const MAX_CRONS = 1000;

/** Maximum characters of the payload and metadata stored with a cron: a database row has at most 2 MB. */
const MAX_KEPT_CHARS = 500_000;

/** Maximum attempts at an update when another update happens between its read and its write. */
const MAX_UPDATE_ATTEMPTS = 8;

/** Creates a cron. With a thread, every run is on that thread; without one, each run gets its own thread. */
export async function createCron(
  call: AgentCall,
  threadId: string | null,
  body: CronCreate,
): Promise<CronJson> {
  const { assistant_id, schedule, timezone, end_time, enabled, on_run_completed, ...rest } = body;
  const { metadata: givenMetadata, ...payload } = rest;
  const { workspaceId, deploymentId } = call.scope;
  const times: CronTimes = {
    schedule,
    timezone: timezone ?? null,
    end_time: optionalMillis(end_time),
  };
  const cronId = uuidv7();
  const { metadata = {} } = await authorize(call, "crons:create", {
    cron_id: cronId,
    thread_id: threadId,
    user_id: call.principal?.user.identity ?? null,
    schedule,
    end_time: times.end_time === null ? null : toIso(times.end_time),
    payload: { assistant_id, ...payload },
    metadata: givenMetadata ?? {},
  });
  if (threadId !== null) await assertThread(call, threadId);
  await assertWebhook(call, body.webhook);
  const assistant = await resolveAssistant(call, assistant_id);
  const now = Date.now();
  const isEnabled = enabled ?? true;
  const next = isEnabled ? nextTick(times, now) : null;
  const row: CronRow = {
    workspace_id: workspaceId,
    deployment_id: deploymentId,
    cron_id: cronId,
    assistant_id: assistant.assistant_id,
    thread_id: threadId,
    on_run_completed: threadId === null ? (on_run_completed ?? "delete") : null,
    ...times,
    enabled: isEnabled ? 1 : 0,
    payload: JSON.stringify(payload),
    metadata: JSON.stringify(metadata),
    principal: call.principal === null ? null : JSON.stringify(call.principal),
    next_run_at: next,
    due_at: next,
    lease: null,
    created_at: now,
    updated_at: now,
  };
  assertSize(row);
  if (!(await insertCron(call.env.DB, row, MAX_CRONS))) {
    throw new ApiError("conflict", `A deployment has at most ${MAX_CRONS} crons`);
  }
  return toCronJson(row);
}

export async function getCron(call: AgentCall, cronId: string): Promise<CronJson> {
  const { filter } = await authorize(call, "crons:read", { cron_id: cronId });
  const row = await findCron(call.env.DB, keyOf(call, cronId), filter);
  if (row === null) throw cronNotFound();
  return toCronJson(row);
}

/** Changes a cron. Given fields replace the stored ones; metadata is merged. */
export async function patchCron(
  call: AgentCall,
  cronId: string,
  body: CronPatch,
): Promise<CronJson> {
  const { metadata: given, schedule, timezone: _t, end_time: _e, enabled: _b, ...rest } = body;
  const { on_run_completed: _o, ...payload } = rest;
  const access = await authorize(call, "crons:update", {
    cron_id: cronId,
    payload,
    schedule: schedule ?? undefined,
    metadata: given ?? {},
  });
  await assertWebhook(call, body.webhook);
  for (let attempt = 0; attempt < MAX_UPDATE_ATTEMPTS; attempt += 1) {
    const current = await findCron(call.env.DB, keyOf(call, cronId), access.filter);
    if (current === null) throw cronNotFound();
    const next = changed(current, body, { payload, metadata: access.metadata ?? {} });
    assertSize(next);
    const replaced = await replaceCron(call.env.DB, current, next);
    if (replaced !== null) return toCronJson(replaced);
  }
  throw new ApiError("conflict", "The cron is being changed by other requests");
}

/** Deletes a cron. Runs that it has created are kept. */
export async function removeCron(call: AgentCall, cronId: string): Promise<void> {
  const { filter } = await authorize(call, "crons:delete", { cron_id: cronId });
  if (!(await deleteCron(call.env.DB, keyOf(call, cronId), filter))) throw cronNotFound();
}

export async function listCrons(
  call: AgentCall,
  search: CronSearch,
): Promise<{ json: JsonText; returned: number; total: number; page: Page }> {
  const page = { limit: search.limit ?? 10, offset: search.offset ?? 0 };
  const { assistant_id, thread_id, metadata, select } = search;
  const value = { assistant_id, thread_id, metadata, ...page };
  const access = await authorize(call, "crons:search", value);
  const order = {
    by: search.sort_by ?? "created_at",
    direction: search.sort_order ?? "desc",
  } as const;
  const filter = toFilter(search, access);
  const found = await searchCrons(call.env.DB, call.scope, { filter, order, ...page });
  if (found === null) throw tooManyCrons();
  const now = toIso(Date.now());
  const json = await jsonListOf(found.rows, (row) => {
    const cron = { ...toCronJson(row), now };
    const { now: _now, ...whole } = cron;
    return select ? Object.fromEntries(select.map((field) => [field, cron[field]])) : whole;
  });
  return { json, returned: found.returned, total: found.total, page };
}

export async function countMatchingCrons(call: AgentCall, search: CronCount): Promise<number> {
  const { assistant_id, thread_id, metadata } = search;
  const access = await authorize(call, "crons:search", { assistant_id, thread_id, metadata });
  const filter = toFilter({ ...search, enabled: null }, access);
  const count = await countCrons(call.env.DB, call.scope, filter);
  if (count === null) throw tooManyCrons();
  return count;
}

function changed(
  current: CronRow,
  body: CronPatch,
  { payload, metadata }: Record<"payload" | "metadata", Record<string, unknown>>,
): CronRow {
  if (current.thread_id !== null && body.on_run_completed === "delete") {
    const msg = "The thread of a cron is not deleted with its runs";
    throw invalidField(["body", "on_run_completed"], msg, "value_error");
  }
  const now = Date.now();
  const given = Object.fromEntries(
    Object.entries(payload).filter(([, value]) => value !== undefined),
  );
  const next = {
    ...current,
    schedule: body.schedule ?? current.schedule,
    timezone: body.timezone === undefined ? current.timezone : body.timezone,
    end_time: body.end_time === undefined ? current.end_time : optionalMillis(body.end_time),
    enabled: Number(body.enabled ?? current.enabled === 1),
    on_run_completed:
      current.thread_id === null ? (body.on_run_completed ?? current.on_run_completed) : null,
    payload: JSON.stringify({ ...JSON.parse(current.payload), ...given }),
    metadata: JSON.stringify({ ...JSON.parse(current.metadata), ...metadata }),
    updated_at: Math.max(now, current.updated_at + 1),
  };
  return { ...next, next_run_at: nextRunAt(current, next, now) };
}

/**
 * Returns the next tick after a change. A tick that is due stays due, unless the change moves the ticks or ends
 * them.
 */
function nextRunAt(current: CronRow, next: CronRow, now: number): number | null {
  if (next.enabled === 0) return null;
  const isMoved = current.schedule !== next.schedule || current.timezone !== next.timezone;
  const kept = isMoved ? null : current.next_run_at;
  if (kept === null) return nextTick(next, now);
  return next.end_time !== null && kept > next.end_time ? null : kept;
}

async function assertThread(call: AgentCall, threadId: string): Promise<void> {
  const thread = await threadFor(call, "threads:read", { thread_id: threadId });
  if ((await thread.get()) === null) throw threadFailure({ code: "thread_not_found" }, threadId);
}

function assertSize({ payload, metadata }: CronRow): void {
  if (payload.length + metadata.length <= MAX_KEPT_CHARS) return;
  const msg = `A cron keeps at most ${MAX_KEPT_CHARS} characters of JSON for its runs`;
  throw invalidField(["body"], msg, "too_long");
}

function toFilter(
  search: Pick<CronSearch, "assistant_id" | "thread_id" | "enabled" | "metadata">,
  access: Access,
): CronFilter {
  const { assistant_id } = search;
  return {
    access: access.filter,
    assistant_id: assistant_id ? toAssistantId(assistant_id) : undefined,
    thread_id: search.thread_id ?? undefined,
    enabled: search.enabled ?? undefined,
    metadata: search.metadata ?? undefined,
  };
}

/** Converts a request's time from microseconds to milliseconds. Ticks are at full minutes, so rounding is harmless. */
function keyOf({ scope }: AgentCall, cronId: string): CronKey {
  return { ...scope, cronId };
}

function cronNotFound(): ApiError {
  return new ApiError("not_found", "Cron not found");
}

function tooManyCrons(): ApiError {
  const msg = "There are too many to look at all of them: leave the field out";
  return invalidField(["body", "metadata"], msg, "search_too_large");
}
