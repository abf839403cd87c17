import { RUN_TYPES } from "../../model/run-write.ts";
import { jsonObject, type JsonPart } from "../json-parts.ts";
import { type ReadRun, runMember } from "./run-json.ts";
import { type Micros, microsToIso } from "../../../lib/time.ts";
import type { TracedRunRow } from "../../model/run-row.ts";
import { toUsd } from "../../usage/money.ts";
import type { RunField } from "./run-fields.ts";

/** The names that `selects` of a thread's traces accepts. A response has the same names in lower case. */
export const THREAD_TRACE_FIELDS = [
  "THREAD_ID",
  "TRACE_ID",
  "OP",
  "PROMPT_TOKENS",
  "COMPLETION_TOKENS",
  "TOTAL_TOKENS",
  "START_TIME",
  "END_TIME",
  "LATENCY",
  "FIRST_TOKEN_TIME",
  "INPUTS_PREVIEW",
  "OUTPUTS_PREVIEW",
  "INPUTS",
  "OUTPUTS",
  "ERROR",
  "PROMPT_COST",
  "COMPLETION_COST",
  "TOTAL_COST",
  "PROMPT_TOKEN_DETAILS",
  "COMPLETION_TOKEN_DETAILS",
  "PROMPT_COST_DETAILS",
  "COMPLETION_COST_DETAILS",
  "NAME",
  "ERROR_PREVIEW",
] as const;

type ThreadTraceField = (typeof THREAD_TRACE_FIELDS)[number];

/** Returns a trace of a thread: the selected fields of its root run, and always its id. */
export function toThreadTraceJson(read: ReadRun, fields: Iterable<ThreadTraceField>): JsonPart[] {
  const names = new Set<ThreadTraceField>(["TRACE_ID", ...fields]);
  return jsonObject([...names].map((name) => [name.toLowerCase(), valueOf(read, name)]));
}

function valueOf(read: ReadRun, field: ThreadTraceField): JsonPart | undefined {
  if (field === "LATENCY") return runMember(read, "LATENCY_SECONDS");
  if (field === "OP") return String(opOf(read.run.run_type));
  return runMember(read, field);
}

/** Returns the run type's position in the published list, counted from 1; 0 for any other type. */
function opOf(runType: string): number {
  return RUN_TYPES.findIndex((name) => name === runType) + 1;
}

/** The fields that a response has for the trace as a whole rather than for its root run. */
export const AGGREGATE_FIELDS: ReadonlySet<RunField> = new Set([
  "TOTAL_TOKENS",
  "TOTAL_COST",
  "FIRST_TOKEN_TIME",
]);

/** Returns a trace: its root run, and its totals if any of them is selected. */
export function toTraceJson(
  rootRun: readonly JsonPart[],
  root: Pick<TracedRunRow, "trace_id" | "total_tokens" | "total_cost">,
  selected: readonly RunField[],
  firstTokenTimes: ReadonlyMap<string, Micros>,
): JsonPart[] {
  const start = ['{"root_run":', ...rootRun];
  if (!selected.some((field) => AGGREGATE_FIELDS.has(field))) return [...start, "}"];
  const firstToken = firstTokenTimes.get(root.trace_id);
  // The totals of a root include all of its descendants.
  const aggregates = {
    ...(selected.includes("TOTAL_TOKENS") ? { total_tokens: root.total_tokens } : {}),
    ...(selected.includes("TOTAL_COST") && root.total_cost !== null
      ? { total_cost: toUsd(root.total_cost) }
      : {}),
    ...(firstToken === undefined ? {} : { first_token_time: microsToIso(firstToken) }),
  };
  return [...start, `,"trace_aggregates":${JSON.stringify(aggregates)}}`];
}
