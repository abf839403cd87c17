export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function p95(samples: readonly number[]): number {
  return quantile(samples, 0.95);
}

/** Interpolates linearly between the two nearest samples. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((left, right) => left - right);
  const position = (sorted.length - 1) * q;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error("There are no samples");
  return below + (above - below) * (position - Math.floor(position));
}

export function roundTo(value: number, significantDigits: number): number {
  return Number(value.toPrecision(significantDigits));
}
