import type { RunRow } from "./run-row.ts";
import type { TextTable } from "./text-table.ts";

/** Maximum characters of the JSON text in a run's row, because the row is written again when the run ends. */
const MAX_CHARS_IN_ROW = 8 * 1024;

/**
 * Returns the run's kwargs for its row; null if they are too long, in which case they are stored as a separate
 * text.
 */
export function placeKwargs(texts: TextTable, runId: string, json: string): string | null {
  if (json.length <= MAX_CHARS_IN_ROW) return json;
  texts.set(nameOf(runId), json);
  return null;
}

/** Returns the JSON text of the run's kwargs; null if they are lost. */
export function kwargsText(
  texts: TextTable,
  run: Pick<RunRow, "run_id" | "kwargs">,
): string | null {
  return run.kwargs ?? texts.get(nameOf(run.run_id));
}

export function forgetKwargs(texts: TextTable, run: Pick<RunRow, "run_id">): void {
  texts.delete(nameOf(run.run_id));
}

function nameOf(runId: string): string {
  return `kwargs:${runId}`;
}
