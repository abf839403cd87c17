import type { RunSpec, TraceBatch } from "../../../../src/graph-runtime/protocol.ts";

// The isolate of a graph does so, too, before it loads LangChain, whose client of LangSmith lasts as long as the
// process: the files of a process share the one that the first of them creates.
process.env["LANGCHAIN_CALLBACKS_BACKGROUND"] = "false";

export const RUN_ID = "0198c0de-0000-7000-8000-000000000001";

/** 2026-08-01T12:00:00.123Z */
export const STARTED_AT = Date.UTC(2026, 7, 1, 12, 0, 0, 123);

/** A run as sent in the batches, with its updates applied to its create. */
export type RecordedRun = {
  id: string;
  trace_id: string;
  parent_run_id?: string;
  dotted_order: string;
  name: string;
  run_type: string;
  start_time: string;
  end_time?: number | string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  error?: string;
  events: { name: string; time: string; kwargs?: unknown }[];
  extra: { metadata: Record<string, unknown> };
  tags?: string[];
};

export type Operations = { post: RecordedRun[]; patch: Partial<RecordedRun>[] };

export function operationsOf({ json }: TraceBatch): Operations {
  return JSON.parse(json);
}

export function runsOf(batches: readonly TraceBatch[]): RecordedRun[] {
  const runs = new Map<string, RecordedRun>();
  for (const batch of batches) {
    const { post, patch } = operationsOf(batch);
    for (const run of [...post, ...(patch as RecordedRun[])]) {
      runs.set(run.id, { ...runs.get(run.id), ...run });
    }
  }
  return [...runs.values()].toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1));
}

export function specOf(over: Partial<RunSpec> = {}): RunSpec {
  return {
    run_id: RUN_ID,
    thread_id: "thread-1",
    graph_id: "helper",
    attempt: 1,
    resuming: false,
    temporary: true,
    input: {},
    command: null,
    config: {
      tags: ["from-client"],
      configurable: {
        run_id: RUN_ID,
        thread_id: "thread-1",
        graph_id: "helper",
        assistant_id: "assistant-1",
      },
      metadata: { customer: "acme" },
    },
    context: null,
    checkpoint: null,
    stream_mode: ["values"],
    stream_subgraphs: false,
    interrupt_before: null,
    interrupt_after: null,
    durability: "async",
    follow: false,
    namespaces: [],
    start: null,
    trace: { started_at: STARTED_AT, metadata: { deployment_id: "default" } },
    principal: null,
    ...over,
  };
}
