import type { RunKwargs } from "../contract/run-request.ts";
import { kwargsText } from "../storage/run-kwargs.ts";
import type { RunListQuery } from "../contract/thread-requests.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import { toRunJson } from "../contract/thread-json.ts";

/**
 * JSON texts of a page of a thread's runs, newest first. Each is read when it is asked for, because its input may
 * be large. The page ends early when the thread is deleted; a run that is deleted meanwhile is left out.
 */
export async function* runTexts(
  { runs, texts, thread }: ThreadStorage,
  threadId: string,
  { fields, ...page }: RunListQuery,
): AsyncGenerator<string> {
  const isWanted = (field: string): boolean => fields === null || fields.includes(field);
  for (const runId of runs.list(page)) {
    if (thread.find() === null) return;
    const row = runs.get(runId);
    if (row === null) continue;
    const text = isWanted("kwargs") ? kwargsText(texts, row) : null;
    const kwargs: RunKwargs | null = text === null ? null : JSON.parse(text);
    const members: [string, unknown][] = Object.entries(toRunJson(row, threadId, kwargs));
    const told = members.filter(([field]) => isWanted(field));
    // No member of the API's run: only who asks for it by its name is told.
    if (fields?.includes("stopped") === true) told.push(["stopped", row.stop !== null]);
    yield JSON.stringify(Object.fromEntries(told));
  }
}
