import { type FeedbackStat, MAX_COMMENTS } from "../shard/feedback-stats.ts";

/** The statistics of one feedback key that both versions of the API return. */
export type KeyStats = {
  n: number;
  min: number | null;
  max: number | null;
  /** How often each label was given. */
  values: Record<string, number>;
  errors: number;
};

/** Merges the `feedback_stats` of several runs (JSON texts) into one entry for each feedback key. */
export function mergeStatsByKey<Stats extends KeyStats>(
  texts: readonly string[],
  add: (left: Stats, right: Stats) => Stats,
): Map<string, Stats> {
  const merged = new Map<string, Stats>();
  for (const text of texts) {
    for (const [key, stats] of Object.entries(JSON.parse(text) as Record<string, Stats>)) {
      const before = merged.get(key);
      merged.set(key, before === undefined ? stats : add(before, stats));
    }
  }
  return merged;
}

export function addKeyStats(left: KeyStats, right: KeyStats): KeyStats {
  const values = new Map(Object.entries(left.values));
  for (const [label, count] of Object.entries(right.values)) {
    values.set(label, count + (values.get(label) ?? 0));
  }
  return {
    n: left.n + right.n,
    min: extreme(Math.min, left.min, right.min),
    max: extreme(Math.max, left.max, right.max),
    values: Object.fromEntries(values),
    errors: left.errors + right.errors,
  };
}

function extreme(
  choose: (one: number, other: number) => number,
  left: number | null,
  right: number | null,
): number | null {
  return left === null || right === null ? (left ?? right) : choose(left, right);
}

/**
 * Merges the `feedback_stats` of several runs (JSON texts) into those of all the runs together. If the
 * runs of one key have both scores and labels, the average is weighted by the number of both.
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

/** Returns the mean and the sample deviation of two samples together, or those of the only one with a mean. */
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

/** Without a deviation there is exactly one score, whatever else `n` counts. */
function sampleSize({ n, stdev }: FeedbackStat): number {
  return stdev === null ? 1 : n;
}

function squaresOf(stat: FeedbackStat): number {
  return (stat.stdev ?? 0) ** 2 * (sampleSize(stat) - 1);
}
