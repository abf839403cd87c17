import { microsToIso } from "../../../lib/time.ts";
import type { Micros } from "../../model/run-write.ts";
import type { RunRow } from "../../model/run-row.ts";
import { toUsd } from "./amounts.ts";
import type { JsonPart } from "../json-parts.ts";
import type { RunField } from "./run-fields.ts";

/** What of a selection is said of the trace as a whole, not of its root run. */
export const AGGREGATE_FIELDS: ReadonlySet<RunField> = new Set([
  "TOTAL_TOKENS",
  "TOTAL_COST",
  "FIRST_TOKEN_TIME",
]);

/** A trace: its root run, and its totals where any is selected. */
export function toTraceJson(
  rootRun: readonly JsonPart[],
  root: Pick<RunRow, "trace_id" | "total_tokens" | "total_cost">,
  selected: readonly RunField[],
  firstTokenTimes: ReadonlyMap<string, Micros>,
): JsonPart[] {
  const start = ['{"root_run":', ...rootRun];
  if (!selected.some((field) => AGGREGATE_FIELDS.has(field))) return [...start, "}"];
  const firstToken = firstTokenTimes.get(root.trace_id);
  // The root's totals are those of all runs below it.
  const aggregates = {
    ...(selected.includes("TOTAL_TOKENS") ? { total_tokens: root.total_tokens } : {}),
    ...(selected.includes("TOTAL_COST") && root.total_cost !== null
      ? { total_cost: toUsd(root.total_cost) }
      : {}),
    ...(firstToken === undefined ? {} : { first_token_time: microsToIso(firstToken) }),
  };
  return [...start, `,"trace_aggregates":${JSON.stringify(aggregates)}}`];
}
