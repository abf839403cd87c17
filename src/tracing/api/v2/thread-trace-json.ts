import { RUN_TYPES } from "../../model/run-write.ts";
import { jsonObject, type JsonPart } from "../json-parts.ts";
import { type ReadRun, runMember } from "./run-json.ts";

/** What `selects` may name of a thread's traces; in an answer, the same in lower case. */
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

export type ThreadTraceField = (typeof THREAD_TRACE_FIELDS)[number];

/** A trace of a thread: the selected fields of its root run, and its id in any case. */
export function toThreadTraceJson(read: ReadRun, fields: Iterable<ThreadTraceField>): JsonPart[] {
  const names = new Set<ThreadTraceField>(["TRACE_ID", ...fields]);
  return jsonObject([...names].map((name) => [name.toLowerCase(), valueOf(read, name)]));
}

function valueOf(read: ReadRun, field: ThreadTraceField): JsonPart | undefined {
  if (field === "LATENCY") return runMember(read, "LATENCY_SECONDS");
  if (field === "OP") return String(opOf(read.run.run_type));
  return runMember(read, field);
}

/** The run type's place in the published list of them, counted from 1; 0 for any other. */
function opOf(runType: string): number {
  return RUN_TYPES.findIndex((name) => name === runType) + 1;
}
