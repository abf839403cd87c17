/** The machine-readable result of a benchmark; its printed text is for people. */
export type BenchResult = { ratios: Record<string, number> };
