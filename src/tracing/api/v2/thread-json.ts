import { microsToIso } from "../../../lib/time.ts";
import { percentile } from "../../model/histogram.ts";
import type { ThreadTotals } from "../../shard/shard-threads.ts";
import { toSeconds, toUsd } from "../../usage/money.ts";
import { mergeFeedbackStats } from "./feedback-stats.ts";
import type { Micros } from "../../model/run-write.ts";

/** A thread's summary; what it has no value for is left out. */
export function toThreadJson(thread: ThreadTotals) {
  return {
    thread_id: thread.threadId,
    trace_id: thread.lastTraceId,
    first_trace_id: thread.firstTraceId,
    last_trace_id: thread.lastTraceId,
    count: thread.count,
    num_errored_turns: thread.errors,
    start_time: microsToIso(thread.maxStart),
    min_start_time: microsToIso(thread.minStart),
    max_start_time: microsToIso(thread.maxStart),
    ...optional("latency_p50", latencySeconds(thread, 0.5)),
    ...optional("latency_p99", latencySeconds(thread, 0.99)),
    total_tokens: thread.totalTokens,
    ...optional("total_cost", thread.totalCost === null ? null : toUsd(thread.totalCost)),
    ...optional("first_inputs", thread.firstInputs),
    ...optional("last_outputs", thread.lastOutputs),
    ...optional("last_error", thread.lastError),
    feedback_stats: mergeFeedbackStats(thread.feedbackStats),
  };
}

/** The latency of the turns that have ended; null when there is none. */
export function latencySeconds({ latency }: ThreadTotals, fraction: number): number | null {
  const micros = percentile(latency, fraction);
  return micros === null ? null : toSeconds(micros);
}

function optional<Name extends string, Value>(
  name: Name,
  value: Value | null,
): { [Key in Name]?: Value } {
  return (value === null ? {} : { [name]: value }) as { [Key in Name]?: Value };
}

/** Threads come by their latest start and, where that is equal, by their ids. */
type ThreadKey = { threadId: string; maxStart: Micros };

/** The last thread of a page; ids of threads are any text, so that this one is percent-encoded. */
export type ThreadPosition = { startTime: Micros; id: string };

/** The threads of a page, and where the next one begins. */
export function threadsPage<Thread extends ThreadKey>(
  threads: readonly Thread[],
  after: ThreadPosition | null,
  limit: number,
): { items: Thread[]; next: ThreadPosition | null } {
  const rest = after === null ? threads : threads.filter((thread) => isBehind(thread, after));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const next = last === undefined || rest.length === items.length ? null : positionOf(last);
  return { items, next };
}

function isBehind({ maxStart, threadId }: ThreadKey, after: ThreadPosition): boolean {
  if (maxStart !== after.startTime) return maxStart < after.startTime;
  return threadId > decode(after.id);
}

function positionOf({ maxStart, threadId }: ThreadKey): ThreadPosition {
  return { startTime: maxStart, id: encodeURIComponent(threadId.toWellFormed()) };
}

/** A cursor of another kind of page may have been sent. */
function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
