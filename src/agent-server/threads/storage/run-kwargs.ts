import type { RunRow } from "./run-row.ts";
import type { TextTable } from "./text-table.ts";

/** Of its JSON: a run's row is written again when the run ends. */
const MAX_CHARS_IN_ROW = 8 * 1024;

/** What a run was asked with, as its row has it; what is too long for that becomes a text of its own. */
export function placeKwargs(texts: TextTable, runId: string, json: string): string | null {
  if (json.length <= MAX_CHARS_IN_ROW) return json;
  texts.set(nameOf(runId), json);
  return null;
}

/** JSON of what the run was asked with; null when that is lost. */
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
