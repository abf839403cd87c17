import type { IngestWorkspace } from "./ingest.ts";
import { projectId } from "./stored-runs.ts";
import type { RunData } from "./trace-data.ts";
import { v7 } from "uuid";

export const DAY_US = 86_400_000_000;

/** Returns midnight in UTC some days ago, in microseconds since the epoch. */
export function daysAgo(days: number): number {
  return Math.floor(Date.now() / 86_400_000 - days) * DAY_US;
}

/** Formats microseconds since the epoch as an ISO time with all digits. */
export function isoTime(micros: number): string {
  const seconds = new Date(Math.floor(micros / 1_000_000) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000).padStart(6, "0")}Z`;
}

/** Returns a run with this start, in microseconds since the epoch. */
export function runAt(
  project: string,
  micros: number,
  { parent, ...fields }: { parent?: RunData } & Record<string, unknown> = {},
): RunData {
  const id = v7();
  const start_time = isoTime(micros);
  const segment = `${start_time.replaceAll(/[-:.]/g, "")}${id}`;
  return {
    id,
    trace_id: parent?.trace_id ?? id,
    ...(parent === undefined ? {} : { parent_run_id: parent.id }),
    dotted_order: parent === undefined ? segment : `${parent.dotted_order}.${segment}`,
    name: "a run",
    run_type: "chain",
    session_name: project,
    start_time,
    ...fields,
  };
}

/** Returns `count` plain runs, one every `everyUs` microseconds. */
export function plainRuns(
  project: string,
  { from, count, everyUs }: { from: number; count: number; everyUs: number },
): RunData[] {
  return Array.from({ length: count }, (_, index) => {
    const start = from + Math.floor(index * everyUs);
    return runAt(project, start, {
      name: `run ${index}`,
      run_type: index % 3 === 0 ? "llm" : "chain",
      inputs: { index, text: `input ${index}` },
      ...(index % 2 === 0 ? { end_time: isoTime(start + 1500), outputs: { index } } : {}),
    });
  });
}

export async function store(workspace: IngestWorkspace, runs: readonly RunData[]): Promise<void> {
  const { status, body } = await workspace.batch({ post: runs });
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`);
}

const MB = 1024 * 1024;

/**
 * Stores runs of every kind on the first, the third and the fourth of four days; the second is empty. They have
 * unicode, nulls, trees, costs, feedback, and a payload of 5 MB. `range` has all of them but the first, which starts a
 * microsecond before it, and the last, which starts at its end.
 */
export async function storeVariousRuns(workspace: IngestWorkspace, project: string) {
  const first = daysAgo(5);
  const start = first + 6 * 3_600_000_000;
  const third = first + 2 * DAY_US;
  const end = first + 3 * DAY_US + 1_000_001;
  const usage_metadata = {
    input_tokens: 20,
    output_tokens: 10,
    total_tokens: 30,
    input_cost: 0.000035,
    output_cost: 0.000000000003,
    total_cost: 0.000035000003,
  };
  const agent = runAt(project, start, {
    name: "agent 😀 “quoted”",
    inputs: {
      question: "Wie wird's? \u2028 \ud83d\ude00 日本語",
      nothing: null,
      list: [1, 2.5, true],
    },
    outputs: { answer: "" },
    end_time: isoTime(start + 2_000_001),
    tags: ["beta", "ünï", 'with "quotes", commas'],
    extra: { metadata: { thread_id: "t1", deep: { a: [{ b: null }] } } },
    reference_example_id: v7(),
  });
  const model = runAt(project, start + 7, {
    parent: agent,
    name: "model",
    run_type: "llm",
    inputs: { big: 9_007_199_254_740_991, small: 1e-7 },
    outputs: { text: "sunny", usage_metadata },
    end_time: isoTime(start + 1_000_000),
    events: [
      { name: "start", time: isoTime(start + 8) },
      { name: "new_token", time: isoTime(start + 250_000), kwargs: { token: "s" } },
    ],
  });
  const tool = runAt(project, start + 9, {
    parent: model,
    name: "",
    run_type: "tool",
    error: 'no network\n\tat "search" 🔌',
    end_time: isoTime(start + 10),
  });
  const large = runAt(project, third + 5, {
    name: "large",
    inputs: { text: "ä🙂x".repeat((5 * MB) / 7) },
    outputs: { text: "y".repeat(70_000) },
    extra: { metadata: { note: "z".repeat(70_000) } },
    end_time: isoTime(third + 50),
  });
  const inside = [
    agent,
    model,
    tool,
    ...plainRuns(project, { from: start + 1_000_000, count: 21, everyUs: 333 }),
    runAt(project, first + DAY_US - 1, { name: "last of the first day" }),
    runAt(project, third, { name: "first of the third day" }),
    large,
    ...plainRuns(project, { from: third + 60, count: 8, everyUs: 1 }),
    runAt(project, first + 3 * DAY_US, { name: "first of the fourth day" }),
    runAt(project, end - 1, { name: "the last" }),
  ];
  const outside = [runAt(project, start - 1), runAt(project, end)];
  await store(workspace, [...inside, ...outside]);
  await workspace.client.createFeedback(agent.id, "user_score", {
    score: 0.5,
    comment: "gut ✓",
    traceId: agent.trace_id,
  });
  await workspace.client.createFeedback(model.id, "label", {
    value: "right",
    traceId: agent.trace_id,
  });
  // The client sends feedback with its next batch.
  await workspace.client.flush();
  return {
    project: await projectId(workspace, project),
    range: { start_time: isoTime(start), end_time: isoTime(end) },
    inside,
    outside,
  };
}
