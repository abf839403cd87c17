import { addKeyStats, mergeStatsByKey } from "../feedback-stats.ts";
import type { FeedbackStat } from "../../shard/feedback-stats.ts";

const MAX_COMMENTS = 10;

/**
 * `feedback_stats` of several runs, as JSON texts, as those of all of them together. Where runs of
 * one key have both scores and labels, their average is weighted by both.
 */
export function mergeFeedbackStats(texts: readonly string[]): Record<string, FeedbackStat> {
  return Object.fromEntries(mergeStatsByKey(texts, add));
}

function add(left: FeedbackStat, right: FeedbackStat): FeedbackStat {
  const { min, max, values, errors, n } = addKeyStats(left, right);
  return {
    n,
    ...addSpread(left, right),
    min,
    max,
    values,
    errors,
    comments: [...left.comments, ...right.comments].slice(0, MAX_COMMENTS),
    sources: [...new Set([...left.sources, ...right.sources])],
    contains_thread_feedback: left.contains_thread_feedback || right.contains_thread_feedback,
  };
}

/** Mean and sample deviation of two samples together, of what is known of each. */
function addSpread(left: FeedbackStat, right: FeedbackStat): Pick<FeedbackStat, "avg" | "stdev"> {
  if (left.avg === null || right.avg === null) {
    const { avg, stdev } = left.avg === null ? right : left;
    return { avg, stdev };
  }
  const [leftSize, rightSize] = [sampleSize(left), sampleSize(right)];
  const size = leftSize + rightSize;
  const distance = right.avg - left.avg;
  const avg = left.avg + (distance * rightSize) / size;
  const squares =
    squaresOf(left) + squaresOf(right) + (distance ** 2 * leftSize * rightSize) / size;
  return { avg, stdev: Math.sqrt(squares / (size - 1)) };
}

/** Scores without a deviation are a single one, whatever else was counted. */
function sampleSize({ n, stdev }: FeedbackStat): number {
  return stdev === null ? 1 : n;
}

function squaresOf(stat: FeedbackStat): number {
  return (stat.stdev ?? 0) ** 2 * (sampleSize(stat) - 1);
}
