import { addKeyStats, type KeyStats, mergeStatsByKey } from "../../feedback-stats.ts";

type AveragedStats = KeyStats & { avg: number | null };

/** `feedback_stats` of several runs (JSON texts) as those of all of them; null when there is none. */
export function mergeFeedbackStats(texts: readonly string[]): Record<string, AveragedStats> | null {
  const merged = mergeStatsByKey<AveragedStats>(texts, (left, right) => ({
    ...addKeyStats(left, right),
    avg: average(left, right),
  }));
  if (merged.size === 0) return null;
  return Object.fromEntries([...merged].map(([key, stats]) => [key, pick(stats)]));
}

/** Version 2 tells more of what is stored. */
function pick({ n, avg, min, max, values, errors }: AveragedStats): AveragedStats {
  return { n, avg, min, max, values, errors };
}

function average(left: AveragedStats, right: AveragedStats): number | null {
  if (left.avg === null || right.avg === null) return left.avg ?? right.avg;
  return (left.avg * left.n + right.avg * right.n) / (left.n + right.n);
}
