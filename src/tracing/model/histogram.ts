/**
 * Values and how often each occurs, in ascending order, from which percentiles over many shards are computed.
 * A sketch such as t-digest or DDSketch would have to be built from each row, whereas SQL counts the values
 * where the rows are.
 */
export type Histogram = { value: number; count: number }[];

/**
 * Returns SQL that rounds a whole number down to four significant digits, so that a histogram stays small
 * however many runs there are; percentiles are off by less than 0.1 %.
 */
export function bucketSql(expression: string): string {
  const steps: string[] = [];
  for (let digits = 4; digits < 16; digits += 1) {
    const step = 10 ** (digits - 3);
    steps.push(`WHEN ${expression} < ${10 ** (digits + 1)} THEN ${expression} / ${step} * ${step}`);
  }
  return `CASE WHEN ${expression} < 10000 THEN ${expression} ${steps.join(" ")} ELSE ${expression} END`;
}

export function mergeHistograms(histograms: readonly Histogram[]): Histogram {
  const counts = new Map<number, number>();
  for (const histogram of histograms) {
    for (const { value, count } of histogram) counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((left, right) => left.value - right.value);
}

/** Returns the value below which the share `fraction` lies, interpolated linearly; null for no values. */
export function percentile(histogram: Histogram, fraction: number): number | null {
  const total = histogram.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const rank = fraction * (total - 1);
  const lower = valueAt(histogram, Math.floor(rank));
  const upper = valueAt(histogram, Math.ceil(rank));
  return lower + (upper - lower) * (rank - Math.floor(rank));
}

function valueAt(histogram: Histogram, index: number): number {
  let seen = 0;
  for (const { value, count } of histogram) {
    seen += count;
    if (index < seen) return value;
  }
  return histogram.at(-1)?.value ?? 0;
}
