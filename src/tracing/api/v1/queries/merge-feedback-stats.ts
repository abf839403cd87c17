type KeyStats = {
  n: number;
  avg: number | null;
  min: number | null;
  max: number | null;
  values: Record<string, number>;
  errors: number;
};

/** `feedback_stats` of several runs (JSON texts) as those of all of them; null when there is none. */
export function mergeFeedbackStats(texts: readonly string[]): Record<string, KeyStats> | null {
  const merged = new Map<string, KeyStats>();
  for (const text of texts) {
    for (const [key, stats] of Object.entries(JSON.parse(text) as Record<string, KeyStats>)) {
      const before = merged.get(key);
      merged.set(key, before === undefined ? pick(stats) : add(before, stats));
    }
  }
  return merged.size === 0 ? null : Object.fromEntries(merged);
}

function pick({ n, avg, min, max, values, errors }: KeyStats): KeyStats {
  return { n, avg, min, max, values: { ...values }, errors };
}

function add(left: KeyStats, right: KeyStats): KeyStats {
  const values = new Map(Object.entries(left.values));
  for (const [value, n] of Object.entries(right.values)) {
    values.set(value, n + (values.get(value) ?? 0));
  }
  return {
    n: left.n + right.n,
    avg: average(left, right),
    min: extreme(Math.min, left.min, right.min),
    max: extreme(Math.max, left.max, right.max),
    values: Object.fromEntries(values),
    errors: left.errors + right.errors,
  };
}

function average(left: KeyStats, right: KeyStats): number | null {
  if (left.avg === null || right.avg === null) return left.avg ?? right.avg;
  return (left.avg * left.n + right.avg * right.n) / (left.n + right.n);
}

function extreme(
  pickOf: (one: number, other: number) => number,
  left: number | null,
  right: number | null,
): number | null {
  return left === null || right === null ? (left ?? right) : pickOf(left, right);
}
