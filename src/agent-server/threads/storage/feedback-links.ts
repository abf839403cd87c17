import type { RunEvent } from "../../../graph-runtime/protocol.ts";
import type { TextTable } from "./text-table.ts";

type OfRun = { run_id: string };

/** Returns the name of the stored text that holds the links for feedback on a run. */
function feedbackName({ run_id }: OfRun): string {
  return `feedback:${run_id}`;
}

/** Stores the links of a new run, by key. Must be called in a transaction. */
export function keepFeedback(
  texts: TextTable,
  run: OfRun,
  links: Record<string, string> | undefined,
): void {
  if (links !== undefined) texts.set(feedbackName(run), JSON.stringify(links));
}

export function forgetFeedback(texts: TextTable, run: OfRun): void {
  texts.delete(feedbackName(run));
}

/** Returns the last events of a run, with its links for feedback at the end, but before an error. */
export function withFeedback(texts: TextTable, run: OfRun, events: RunEvent[]): RunEvent[] {
  const data = texts.get(feedbackName(run));
  if (data === null) return events;
  const at = events.at(-1)?.event === "error" ? events.length - 1 : events.length;
  return events.toSpliced(at, 0, { event: "feedback", data });
}
