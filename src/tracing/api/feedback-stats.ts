/** What both versions of the API tell of the feedback with one key. */
export type KeyStats = {
  n: number;
  min: number | null;
  max: number | null;
  /** How often each label was given. */
  values: Record<string, number>;
  errors: number;
};

/** `feedback_stats` of several runs (JSON texts) as those of all of them, by key. */
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
