/** What a benchmark leaves for machines to read; the text it prints is for people. */
export type BenchResult = { ratios: Record<string, number> };
