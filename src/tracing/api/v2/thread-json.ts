import { microsToIso } from "../../../lib/time.ts";
import { percentile } from "../../model/histogram.ts";
import type { ThreadTotals } from "../../shard/shard-threads.ts";
import { toSeconds, toUsd } from "./amounts.ts";
import { mergeFeedbackStats } from "./feedback-stats.ts";

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
