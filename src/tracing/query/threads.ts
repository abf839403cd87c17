import { readAllShards } from "./all-shards.ts";
import type { ThreadTotals } from "../shard/shard-threads.ts";
import { mergeHistograms } from "../model/histogram.ts";
import type { RunSelection } from "../shard/selection.ts";

/** Returns the threads of the selected root runs of all shards, the latest first. */
export async function findThreadTotals(
  env: Env,
  query: { workspaceId: string; projectIds: readonly string[]; selection: RunSelection },
): Promise<ThreadTotals[]> {
  const threads = new Map<string, ThreadTotals>();
  const add = (part: ThreadTotals): void => {
    const before = threads.get(part.threadId);
    threads.set(part.threadId, before === undefined ? part : merge(before, part));
  };
  await readAllShards(
    env,
    query,
    (stub, after, known) => stub.threads(query.selection, after, known),
    add,
  );
  return [...threads.values()].toSorted(
    (left, right) => right.maxStart - left.maxStart || (left.threadId < right.threadId ? -1 : 1),
  );
}

function errorOf({ lastError, lastErrorStart }: ThreadTotals) {
  return { lastError, lastErrorStart };
}

function merge(left: ThreadTotals, right: ThreadTotals): ThreadTotals {
  const [first, other] = left.minStart <= right.minStart ? [left, right] : [right, left];
  const last = left.maxStart >= right.maxStart ? left : right;
  return {
    threadId: left.threadId,
    count: left.count + right.count,
    errors: left.errors + right.errors,
    minStart: first.minStart,
    maxStart: last.maxStart,
    totalTokens: left.totalTokens + right.totalTokens,
    totalCost: left.totalCost === null ? right.totalCost : left.totalCost + (right.totalCost ?? 0),
    firstTraceId: first.firstTraceId,
    firstInputs: first.firstInputs,
    lastTraceId: last.lastTraceId,
    lastOutputs: last.lastOutputs,
    ...((left.lastErrorStart ?? 0) >= (right.lastErrorStart ?? 0) ? errorOf(left) : errorOf(right)),
    feedbackStats: [...first.feedbackStats, ...other.feedbackStats],
    latency: mergeHistograms([left.latency, right.latency]),
  };
}
