import {
  LangChainTracer,
  type LangChainTracerFields,
} from "@langchain/core/tracers/tracer_langchain";

/** The columns of a run that is traced, with the id first. */
export const RUN_COLUMNS = [
  "id",
  "trace_id",
  "parent_run_id",
  "dotted_order",
  "name",
  "run_type",
  "start_time",
  "end_time",
  "error",
  "tags",
  "extra",
  "events",
  "serialized",
  "outputs",
  "inputs",
] as const;

const INPUTS = RUN_COLUMNS.indexOf("inputs");

/** The values of the columns: lists and objects are JSON text. */
export type TracedRun = (string | number | null)[];

type Client = NonNullable<LangChainTracerFields["client"]>;

/** LangChain's own tracer, whose client makes a row of each run that has ended. */
export class RunTrace {
  readonly tracer: LangChainTracer;
  readonly runs: TracedRun[] = [];
  /** The inputs of the runs that have begun, as JSON text, because the graph may change them later. */
  readonly #inputs = new Map<string, string>();

  constructor() {
    const client: Client = {
      createRun: async ({ id, inputs }) => {
        if (id !== undefined) this.#inputs.set(id, JSON.stringify(inputs));
      },
      updateRun: async (id, run) => {
        const fields: Partial<Record<string, unknown>> = { ...run, id, inputs: null };
        fields["events"] = withoutTokens(run.events);
        const row = RUN_COLUMNS.map((column) => columnValue(fields[column]));
        row[INPUTS] = this.#inputs.get(id) ?? null;
        this.runs.push(row);
      },
    };
    this.tracer = new LangChainTracer({ client });
  }
}

function columnValue(value: unknown): string | number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "number") return value;
  return JSON.stringify(value);
}

/** Removes the streamed text from the events, as the platform does: it is in the outputs. */
function withoutTokens(events: Parameters<Client["updateRun"]>[1]["events"]): unknown {
  return events?.map((event) =>
    event["name"] === "new_token" ? { name: event["name"], time: event["time"] } : event,
  );
}
