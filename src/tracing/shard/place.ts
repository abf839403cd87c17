import type { Sql } from "../../db/sql.ts";
import type { RunOrder, RunPosition } from "../model/run-page.ts";

/** Where reading begins, and in which order of the runs' starts it goes on. */
export type Place = { order: RunOrder; after: RunPosition | null };

export function beyond(position: RunPosition | null, compare: "<" | "<=" | ">" | ">="): Sql {
  if (position === null) return { text: "1", params: [] };
  return {
    text: `(r.start_time, r.id) ${compare} (?, ?)`,
    params: [position.startTime, position.id],
  };
}
