import { describe } from "vitest";
import { ended, makeRun, makeTrace, micros, storeRuns } from "../support/sample-runs.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace, type TracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer();

const HOUR_MS = 3_600_000;

describe("threads", () => {
  async function makeThreads(workspace: TracingWorkspace) {
    const first = makeTrace(HOUR_MS, { thread_id: "téa" });
    const failed = makeRun(HOUR_MS / 2, {
      name: "agent",
      inputs: { question: "and now?" },
      extra: { metadata: { thread_id: "téa" } },
    });
    const second = ended(failed, 4000, { error: "it broke" });
    const other = ended(makeRun(HOUR_MS * 2, { extra: { metadata: { session_id: "b" } } }), 10);
    const runs = [...Object.values(first), second, other, makeRun(1000, {})];
    return { project: await storeRuns(workspace, "threads", runs), first, second, other };
  }

  test("query summarises the turns of each thread", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 threads");
    const { project, first, second, other } = await makeThreads(workspace);
    await workspace.client.createFeedback(first.root.id, "quality", { score: 1 });
    await workspace.client.createFeedback(second.id, "quality", { score: 0 });
    const threads = await collect(
      workspace.client.threads.query({ project_id: project, page_size: 1 }),
    );
    expect(threads).toEqual([
      {
        thread_id: "téa",
        trace_id: second.id,
        first_trace_id: first.root.id,
        last_trace_id: second.id,
        count: 2,
        num_errored_turns: 1,
        start_time: micros(second.body["start_time"]),
        min_start_time: micros(first.root.body["start_time"]),
        max_start_time: micros(second.body["start_time"]),
        latency_p50: 3,
        latency_p99: expect.closeTo(3.98, 2),
        total_tokens: 30,
        total_cost: 0.000065,
        first_inputs: expect.stringContaining("weather?"),
        last_error: "it broke",
        feedback_stats: {
          quality: expect.objectContaining({ n: 2, avg: 0.5, min: 0, max: 1 }),
        },
      },
      expect.objectContaining({ thread_id: "b", count: 1, trace_id: other.id }),
    ]);
  });

  test("query filters the threads, but not their turns", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 narrowed threads");
    const { project, second } = await makeThreads(workspace);
    const found = async (more: object) =>
      (await collect(workspace.client.threads.query({ project_id: project, ...more }))).map(
        ({ thread_id, count }) => [thread_id, count],
      );
    expect(await found({ filter: 'eq(status, "error")' })).toEqual([["téa", 2]]);
    expect(await found({ trace_filter: 'eq(status, "success")' })).toEqual([
      ["téa", 2],
      ["b", 1],
    ]);
    expect(await found({ tree_filter: 'eq(run_type, "tool")' })).toEqual([["téa", 2]]);
    // The two conditions match two different traces of the thread.
    const both = { filter: 'eq(status, "error")', tree_filter: 'eq(run_type, "tool")' };
    expect(await found(both)).toEqual([["téa", 2]]);
    const max_start_time = String(second.body["start_time"]);
    expect(await found({ max_start_time })).toEqual([
      ["téa", 1],
      ["b", 1],
    ]);
  });

  test("listTraces has a thread's turns from the first on", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 turns");
    const { project, first, second } = await makeThreads(workspace);
    const turns = (more: object) =>
      collect(workspace.client.threads.listTraces("téa", { project_id: project, ...more }));
    expect(await turns({ page_size: 1 })).toEqual([
      { trace_id: first.root.id },
      { trace_id: second.id },
    ]);
    const selects = ["THREAD_ID", "OP", "LATENCY", "INPUTS", "ERROR", "TOTAL_COST"];
    expect(await turns({ selects })).toEqual([
      {
        trace_id: first.root.id,
        thread_id: "téa",
        op: 2,
        latency: 2,
        inputs: { question: "weather?" },
        total_cost: 0.000065,
      },
      {
        trace_id: second.id,
        thread_id: "téa",
        op: 2,
        latency: 4,
        inputs: { question: "and now?" },
        error: "it broke",
      },
    ]);
    expect(await turns({ filter: 'eq(status, "error")' })).toEqual([{ trace_id: second.id }]);
    expect(
      await collect(workspace.client.threads.listTraces("none", { project_id: project })),
    ).toEqual([]);
  });

  test("stats cover the turns of one thread", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 thread stats");
    const { project, first, second } = await makeThreads(workspace);
    await workspace.client.createFeedback(second.id, "quality", { value: "bad" });
    const selects = [
      "TURNS",
      "FIRST_START_TIME",
      "LAST_START_TIME",
      "LAST_END_TIME",
      "LATENCY_P50",
      "PROMPT_TOKENS",
      "COMPLETION_TOKENS",
      "TOTAL_TOKENS",
      "PROMPT_COST",
      "TOTAL_COST",
      "PROMPT_TOKEN_DETAILS",
      "PROMPT_COST_DETAILS",
      "FEEDBACK_STATS",
    ] as const;
    const where = { session_id: project, selects: [...selects] };
    expect(await workspace.client.threads.stats("téa", where)).toMatchObject({
      turns: 2,
      first_start_time: micros(first.root.body["start_time"]),
      last_start_time: micros(second.body["start_time"]),
      last_end_time: micros(second.body["end_time"]),
      latency_p50_seconds: 3,
      prompt_tokens: 20,
      completion_tokens: 10,
      total_tokens: 30,
      prompt_cost: 0.000035,
      total_cost: 0.000065,
      prompt_token_details: { raw: { cache_read: 5 } },
      feedback_stats: { quality: { n: 1, avg: null, values: { bad: 1 } } },
    });
    const filter = `eq(trace_id, "${second.id}")`;
    expect(
      await workspace.client.threads.stats("téa", {
        session_id: project,
        selects: ["TURNS", "TOTAL_TOKENS", "TOTAL_COST"],
        filter,
      }),
    ).toEqual({ turns: 1, total_tokens: 0 });
    expect(
      await workspace.client.threads.stats("none", {
        session_id: project,
        selects: ["TURNS", "LATENCY_P99", "LAST_END_TIME"],
      }),
    ).toEqual({ turns: 0 });
  });
});
