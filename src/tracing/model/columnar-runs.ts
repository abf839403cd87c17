/**
 * Runs column by column, as they leave a shard for an export: texts as consecutive UTF-8 and numbers as arrays,
 * because one object per run costs more than all other work on it.
 */

export type { RunPosition } from "./run-page.ts";

/** Texts; `lengths` has their lengths in bytes, or NO_TEXT, or STORED_TEXT. */
export type ColumnarTexts = {
  bytes: Uint8Array;
  lengths: Int32Array;
  /** The payloads that are in R2, in the order of their rows. */
  stored: StoredText[];
};

/** `size` is the length of the JSON text in bytes. */
type StoredText = { row: number; object: string; size: number };

/** The length of a text that is null. */
export const NO_TEXT = -1;
/** The length of a text that is in R2, see `stored`. */
export const STORED_TEXT = -2;

/** NaN for null. Values are microseconds, whole picodollars, and counts. */
export type ColumnarNumbers = Float64Array;

export const TEXT_COLUMNS = [
  "id",
  "trace_id",
  "parent_run_id",
  "reference_example_id",
  "name",
  "run_type",
  "status",
  "dotted_order",
  "trace_tier",
  "inputs",
  "outputs",
  "error",
  "extra",
  "events",
  "tags",
  "feedback_stats",
] as const;

export const NUMBER_COLUMNS = [
  "start_time",
  "end_time",
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  "total_cost",
  "prompt_cost",
  "completion_cost",
  "first_token_time",
] as const;

export type TextColumn = (typeof TEXT_COLUMNS)[number];
export type NumberColumn = (typeof NUMBER_COLUMNS)[number];
export type RunColumn = TextColumn | NumberColumn;

export function isTextColumn(column: RunColumn): column is TextColumn {
  return TEXT_COLUMNS.some((name) => name === column);
}

/** Has the requested columns, and always `id` and `start_time`. */
export type ColumnarRuns = {
  rows: number;
  texts: Partial<Record<TextColumn, ColumnarTexts>>;
  numbers: Partial<Record<NumberColumn, ColumnarNumbers>>;
};

/** The rows of a shard's page from `from` up to but excluding `to`. */
export type ExportedRuns = { runs: ColumnarRuns; from: number; to: number };

/** Returns the text of a row; null if there is none or it is in R2. For single rows: it adds up lengths to find it. */
export function textAt({ bytes, lengths }: ColumnarTexts, row: number): string | null {
  const length = lengths[row] ?? NO_TEXT;
  if (length < 0) return null;
  let start = 0;
  for (let before = 0; before < row; before += 1) start += Math.max(lengths[before] ?? 0, 0);
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(
    bytes.subarray(start, start + length),
  );
}
