import { describe } from "vitest";
import { testWithServer } from "../support/server.ts";
import { collect, tracingWorkspace, type TracingWorkspace } from "../support/tracing.ts";
import { MISSING_ID, UUID } from "../support/uuid.ts";

const test = testWithServer();

const HOUR_MS = 3_600_000;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

type Run = {
  id: string;
  order: string;
  traceId: string;
  /** What the create of the run says. */
  body: Record<string, unknown>;
};

/** A run that started so many milliseconds before now. */
function makeRun(agoMs: number, members: Record<string, unknown>, parent?: Run): Run {
  const id = crypto.randomUUID();
  const time = new Date(Date.now() - agoMs).toISOString();
  const segment = `${time.replaceAll(/[-:.]/g, "").slice(0, -1)}000Z${id}`;
  const order = parent === undefined ? segment : `${parent.order}.${segment}`;
  const traceId = parent?.traceId ?? id;
  const body = {
    id,
    trace_id: traceId,
    dotted_order: order,
    ...(parent === undefined ? {} : { parent_run_id: parent.id }),
    name: "run",
    run_type: "chain",
    start_time: time,
    ...members,
  };
  return { id, order, traceId, body };
}

/** Stores the runs in a project of this name; returns the project's id. */
async function store({ api, client }: TracingWorkspace, name: string, runs: Run[]) {
  const post = runs.map(({ body }) => ({ ...body, session_name: name }));
  const response = await api("POST", "/runs/batch", { post });
  if (response.status !== 202) throw new Error(await response.text());
  return (await client.readProject({ projectName: name })).id;
}

/** Milliseconds after the run's start, as a time. */
function after({ body }: Run, ms: number): string {
  return new Date(Date.parse(String(body["start_time"])) + ms).toISOString();
}

function ended(run: Run, ms: number, members: Record<string, unknown> = {}): Run {
  return { ...run, body: { ...run.body, end_time: after(run, ms), ...members } };
}

/** A root with a model's and a failed tool's run below it. */
function makeTrace(agoMs: number, metadata: Record<string, unknown> = {}) {
  const extra = { metadata };
  const agent = { name: "agent", inputs: { question: "weather?" }, tags: ["beta"], extra };
  const root = ended(makeRun(agoMs, agent), 2000, { outputs: { answer: "sunny" } });
  const model = makeRun(agoMs - 100, { name: "model", run_type: "llm", extra }, root);
  const tool = makeRun(agoMs - 1200, { name: "search", run_type: "tool", extra }, root);
  const usage_metadata = {
    input_tokens: 20,
    output_tokens: 10,
    total_tokens: 30,
    input_token_details: { cache_read: 5 },
    input_cost: 0.000035,
    output_cost: 0.00003,
    total_cost: 0.000065,
  };
  return {
    root,
    model: ended(model, 1000, {
      outputs: { text: "sunny", usage_metadata },
      events: [{ name: "new_token", time: after(model, 250) }],
    }),
    tool: ended(tool, 100, { error: "no network" }),
  };
}

function micros(time: unknown): string {
  return String(time).replace("Z", "000Z");
}

describe("runs.query", () => {
  test("answers with ids unless fields are selected", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 ids");
    const { root, model, tool } = makeTrace(HOUR_MS);
    const project = await store(workspace, "ids", [root, model, tool]);
    const page = await workspace.client.runs.query({ project_ids: [project] });
    expect(page.items).toEqual([{ id: tool.id }, { id: model.id }, { id: root.id }]);
  });

  test("has the selected fields of each run", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 fields");
    const { root, model, tool } = makeTrace(HOUR_MS, { env: "prod" });
    const project = await store(workspace, "fields", [root, model, tool]);
    const { items } = await workspace.client.runs.query({
      project_ids: [project],
      selects: [
        "ID",
        "NAME",
        "RUN_TYPE",
        "STATUS",
        "START_TIME",
        "END_TIME",
        "LATENCY_SECONDS",
        "FIRST_TOKEN_TIME",
        "ERROR",
        "ERROR_PREVIEW",
        "METADATA",
        "INPUTS",
        "PARENT_RUN_IDS",
        "PROJECT_ID",
        "TRACE_ID",
        "IS_ROOT",
        "DOTTED_ORDER",
        "TAGS",
        "TOTAL_TOKENS",
        "TOTAL_COST",
        "PROMPT_COST",
        "PROMPT_TOKEN_DETAILS",
      ],
    });
    const [ofTool, ofModel, ofRoot] = items;
    expect(ofTool).toMatchObject({
      name: "search",
      run_type: "TOOL",
      status: "ERROR",
      error: "no network",
      error_preview: "no network",
      inputs: {},
      tags: [],
      total_tokens: 0,
    });
    expect(ofModel).toEqual({
      id: model.id,
      name: "model",
      run_type: "LLM",
      status: "SUCCESS",
      start_time: micros(model.body["start_time"]),
      end_time: micros(model.body["end_time"]),
      latency_seconds: 1,
      first_token_time: micros(after(model, 250)),
      metadata: expect.objectContaining({ env: "prod" }),
      inputs: {},
      parent_run_ids: [root.id],
      project_id: project,
      trace_id: root.id,
      is_root: false,
      dotted_order: model.order,
      tags: [],
      total_tokens: 30,
      total_cost: 0.000065,
      prompt_cost: 0.000035,
      prompt_token_details: { raw: { cache_read: 5 } },
    });
    expect(ofRoot).toMatchObject({
      status: "SUCCESS",
      inputs: { question: "weather?" },
      parent_run_ids: [],
      is_root: true,
      tags: ["beta"],
      total_tokens: 30,
      total_cost: 0.000065,
    });
    expect(Object.keys(ofRoot ?? {})).not.toContain("error");
  });

  test("shows every run once over many pages, in either order", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 pages");
    // Two of one time, and one of yesterday's shard or of today's, as it happens to be.
    const runs = [20 * HOUR_MS, 7000, 5000, 5000, 3000, 1000].map((ago) => makeRun(ago, {}));
    const project = await store(workspace, "pages", runs);
    const query = { project_ids: [project], page_size: 2 };
    const newestFirst = await collect(workspace.client.runs.query(query));
    expect(newestFirst).toHaveLength(6);
    expect(newestFirst[0]).toEqual({ id: runs[5]?.id });
    expect(newestFirst[5]).toEqual({ id: runs[0]?.id });
    expect(new Set(newestFirst.map(({ id }) => id))).toEqual(new Set(runs.map(({ id }) => id)));
    const oldestFirst = { ...query, sort_order: "ASC" };
    expect(await collect(workspace.client.runs.query(oldestFirst))).toEqual(
      newestFirst.toReversed(),
    );
  });

  test("looks at the last day, and keeps to it on later pages", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 window");
    const old = makeRun(30 * HOUR_MS, {});
    const [first, second, third] = [4000, 3000, 2000].map((ago) => makeRun(ago, {}));
    if (!first || !second || !third) throw new Error("no runs");
    const project = await store(workspace, "window", [old, first, second]);
    const query = (more: object) =>
      workspace.client.runs.query({ project_ids: [project], ...more });
    expect(await collect(query({}))).toEqual([{ id: second.id }, { id: first.id }]);
    const min_start_time = new Date(Date.now() - 48 * HOUR_MS).toISOString();
    expect((await collect(query({ min_start_time }))).at(-1)).toEqual({ id: old.id });
    const max_start_time = String(first.body["start_time"]);
    expect(await collect(query({ min_start_time, max_start_time }))).toEqual([
      { id: first.id },
      { id: old.id },
    ]);
    const page = await query({ page_size: 1, sort_order: "ASC" });
    const later = makeRun(-500, {});
    await store(workspace, "window", [later]);
    await new Promise((resolve) => setTimeout(resolve, 700));
    const rest = await collect(
      workspace.client.runs.query({
        project_ids: [project],
        sort_order: "ASC",
        cursor: page.next_cursor,
      } as never),
    );
    expect(rest).toEqual([{ id: second.id }]);
  });

  test("selects by every member of the query", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 selection");
    const { root, model, tool } = makeTrace(HOUR_MS, { env: "prod" });
    const open = makeRun(1000, { name: "open", reference_example_id: MISSING_ID });
    const project = await store(workspace, "selection", [root, model, tool, open]);
    const names = async (more: object) => {
      const query = { project_ids: [project], selects: ["NAME" as const], ...more };
      return (await collect(workspace.client.runs.query(query))).map(({ name }) => name);
    };
    expect(await names({ ids: [open.id, root.id] })).toEqual(["open", "agent"]);
    expect(await names({ trace_id: root.id })).toEqual(["search", "model", "agent"]);
    expect(await names({ run_type: "LLM" })).toEqual(["model"]);
    expect(await names({ is_root: true })).toEqual(["open", "agent"]);
    expect(await names({ has_error: true })).toEqual(["search"]);
    expect(await names({ has_error: false })).toEqual(["model", "agent"]);
    expect(await names({ has_error: false, filter: 'eq(run_type, "llm")' })).toEqual(["model"]);
    expect(await names({ reference_examples: [MISSING_ID] })).toEqual(["open"]);
    expect(await names({ filter: 'eq(name, "search")' })).toEqual(["search"]);
    expect(await names({ trace_filter: 'eq(name, "open")' })).toEqual(["open"]);
    expect(await names({ tree_filter: 'eq(name, "search")', is_root: true })).toEqual(["agent"]);
    expect(await names({ ids: [] })).toEqual([]);
  });

  test("finds the experiments of a dataset from their beginning", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 dataset");
    const start_time = new Date(Date.now() - 40 * HOUR_MS).toISOString();
    const created = await workspace.api("POST", "/sessions", {
      name: "experiment",
      reference_dataset_id: MISSING_ID,
      start_time,
    });
    expect(created.status).toBe(200);
    const run = makeRun(30 * HOUR_MS, {});
    await store(workspace, "experiment", [run]);
    await store(workspace, "no experiment", [makeRun(1000, {})]);
    const query = { reference_dataset_id: MISSING_ID };
    expect(await collect(workspace.client.runs.query(query))).toEqual([{ id: run.id }]);
  });

  test("sends payloads of any size", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 large");
    const outputs = { text: "sunny ".repeat(50_000), exact: "end" };
    const inputs = { list: Array.from({ length: 30_000 }, (_, index) => index) };
    const runs = [3000, 2000].map((ago) => ended(makeRun(ago, { inputs }), 10, { outputs }));
    const project = await store(workspace, "large", runs);
    const { items } = await workspace.client.runs.query({
      project_ids: [project],
      selects: ["INPUTS", "OUTPUTS", "NAME"],
    });
    expect(items).toEqual([
      { inputs, outputs, name: "run" },
      { inputs, outputs, name: "run" },
    ]);
  });

  test("keeps numbers that a double cannot hold", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 exact");
    const { body } = makeRun(1000, { session_name: "exact" });
    const exact = JSON.stringify({ post: [body] }).replace(
      '"name":',
      '"inputs":{"n":9007199254740993},"extra":{"metadata":{"n":9007199254740995}},"name":',
    );
    const headers = { "x-api-key": workspace.apiKey, "content-type": "application/json" };
    await server.fetch("/api/v1/runs/batch", { method: "POST", headers, body: exact });
    const project = (await workspace.client.readProject({ projectName: "exact" })).id;
    const response = await server.fetch("/api/v2/runs/query", {
      method: "POST",
      headers,
      body: JSON.stringify({ project_ids: [project], selects: ["INPUTS", "METADATA"] }),
    });
    const text = await response.text();
    expect(text).toContain('"inputs":{"n":9007199254740993}');
    expect(text).toContain('"n":9007199254740995');
  });
});

describe("runs.retrieve", () => {
  test("has the selected fields of one run", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 retrieve");
    const { root, model, tool } = makeTrace(HOUR_MS);
    const project = await store(workspace, "retrieve", [root, model, tool]);
    const { runs } = workspace.client;
    expect(await runs.retrieve(model.id, { project_id: project })).toEqual({ id: model.id });
    expect(
      await runs.retrieve(tool.id, {
        project_id: project,
        start_time: String(tool.body["start_time"]),
        selects: ["ERROR", "RUN_TYPE", "EVENTS", "EXTRA"],
      }),
    ).toEqual({
      error: "no network",
      run_type: "TOOL",
      events: [],
      extra: { metadata: {} },
    });
  });

  test("links to attachments", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "v2 attachments");
    const id = crypto.randomUUID();
    await client.createRun({
      id,
      name: "photo",
      run_type: "tool",
      inputs: {},
      project_name: "attachments",
      start_time: Date.now(),
      trace_id: id,
      dotted_order: makeRun(0, {}).order.slice(0, -36) + id,
      attachments: { photo: ["image/png", new Uint8Array([1, 2, 3])] },
    });
    await client.awaitPendingTraceBatches();
    const project = (await client.readProject({ projectName: "attachments" })).id;
    const run = await client.runs.retrieve(id, { project_id: project, selects: ["ATTACHMENTS"] });
    expect(Object.keys(run.attachments ?? {})).toEqual(["photo"]);
    const file = await fetch(String(run.attachments?.["photo"]));
    expect(file.headers.get("content-type")).toBe("image/png");
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]));
  });

  test("finds nothing outside of the project", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 elsewhere");
    const run = makeRun(1000, {});
    await store(workspace, "one", [run]);
    const other = await store(workspace, "other", [makeRun(1000, {})]);
    await expect(
      workspace.client.runs.retrieve(run.id, { project_id: other }),
    ).rejects.toMatchObject({ status: 404, error: { detail: `Run ${run.id} not found` } });
    await expect(
      workspace.client.runs.retrieve(MISSING_ID, { project_id: other }),
    ).rejects.toMatchObject({ status: 404, error: { detail: `Run ${MISSING_ID} not found` } });
  });

  test("getURL leads to the console", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 url");
    const { root, model } = makeTrace(HOUR_MS);
    const project = await store(workspace, "url", [root, model]);
    const where = { project_id: project, trace_id: root.id };
    const { url } = await workspace.client.runs.getURL(model.id, where);
    const { origin, pathname } = new URL(String(url));
    expect(origin).toBe(server.url);
    expect(pathname).toBe(`/o/${workspace.id}/projects/p/${project}/r/${model.id}`);
    await expect(
      workspace.client.runs.getURL(model.id, { ...where, trace_id: model.id }),
    ).rejects.toMatchObject({ status: 404 });
  });
});

describe("traces", () => {
  test("listRuns has the runs of a trace from the first on", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 trace");
    const { root, model, tool } = makeTrace(30 * HOUR_MS);
    const project = await store(workspace, "trace", [root, model, tool, makeRun(1000, {})]);
    const { traces } = workspace.client;
    expect(await traces.listRuns(root.id, { project_id: project })).toEqual({
      items: [{ id: root.id }, { id: model.id }, { id: tool.id }],
    });
    const window = {
      project_id: project,
      min_start_time: String(model.body["start_time"]),
      max_start_time: String(tool.body["start_time"]),
    };
    expect(await traces.listRuns(root.id, { ...window, selects: ["NAME"] })).toEqual({
      items: [{ name: "model" }, { name: "search" }],
    });
    const filter = 'eq(status, "error")';
    expect(await traces.listRuns(root.id, { ...window, filter })).toEqual({
      items: [{ id: tool.id }],
    });
    expect(await traces.listRuns(MISSING_ID, { project_id: project })).toEqual({ items: [] });
    await expect(
      traces.listRuns(root.id, { project_id: project, min_start_time: window.min_start_time }),
    ).rejects.toMatchObject({
      status: 400,
      error: { detail: "max_start_time: Field required together with min_start_time" },
    });
  });

  test("query has root runs and what is about all of a trace", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 traces");
    const first = makeTrace(HOUR_MS);
    const second = makeRun(1000, { name: "other" });
    const project = await store(workspace, "traces", [...Object.values(first), second]);
    const query = (more: object) =>
      collect(workspace.client.traces.query({ project_id: project, ...more }));
    expect(await query({ page_size: 1 })).toEqual([
      { root_run: { id: second.id } },
      { root_run: { id: first.root.id } },
    ]);
    const selects = ["NAME", "STATUS", "TOTAL_TOKENS", "TOTAL_COST", "FIRST_TOKEN_TIME"];
    expect(await query({ selects })).toEqual([
      { root_run: { name: "other", status: "PENDING" }, trace_aggregates: { total_tokens: 0 } },
      {
        root_run: { name: "agent", status: "SUCCESS" },
        trace_aggregates: {
          total_tokens: 30,
          total_cost: 0.000065,
          first_token_time: micros(after(first.model, 250)),
        },
      },
    ]);
    const agent = [{ root_run: { id: first.root.id } }];
    expect(await query({ trace_ids: [first.root.id] })).toEqual(agent);
    expect(await query({ trace_filter: 'eq(name, "agent")' })).toEqual(agent);
    expect(await query({ tree_filter: 'eq(run_type, "tool")' })).toEqual(agent);
    // The end of the window is not in it.
    expect(await query({ max_start_time: String(second.body["start_time"]) })).toEqual(agent);
  });
});

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
    return { project: await store(workspace, "threads", runs), first, second, other };
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

  test("query narrows which threads are shown, not what they consist of", async ({
    server,
    expect,
  }) => {
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
    // Of two traces of the thread.
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

  test("stats are of the turns of one thread", async ({ server, expect }) => {
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

describe("a shared trace", () => {
  test("is read without a key until it is private again", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 share");
    const { client } = workspace;
    const { root, model, tool } = makeTrace(HOUR_MS);
    const secret = makeRun(1000, {});
    const project = await store(workspace, "share", [root, model, tool, secret]);
    const where = { session_id: project, trace_id: root.id };
    const { share_token: token = "" } = await client.runs.share.create(model.id, where);
    expect(token).toMatch(UUID);
    expect(await client.runs.share.create(root.id, {})).toEqual({ share_token: token });

    const open = (method: string, path: string, body?: object) =>
      server.fetch(`/api/v2/public/${token}${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const list = await open("POST", "/runs/query", { selects: ["ID", "PARENT_RUN_ID"] });
    expect(await list.json()).toEqual({
      items: [
        { id: root.id },
        { id: model.id, parent_run_id: root.id },
        { id: tool.id, parent_run_id: root.id },
      ],
    });
    const one = await open("GET", `/run/${root.id}?selects=INPUTS&selects=OUTPUTS`);
    expect(await one.json()).toEqual({
      inputs: { question: "weather?" },
      outputs: { answer: "sunny" },
    });
    expect((await open("GET", `/run/${secret.id}?selects=ID`)).status).toBe(404);
    expect((await open("POST", "/runs/query", { selects: ["INPUTS"] })).status).toBe(422);
    expect((await open("GET", `/run/${root.id}?selects=APP_PATH`)).status).toBe(422);

    expect(await client.public.runs.query(token, { selects: ["NAME"] })).toEqual({
      items: [{ name: "agent" }, { name: "model" }, { name: "search" }],
    });
    const start_time = String(tool.body["start_time"]);
    const read = { share_token: token, selects: ["STATUS", "START_TIME"], start_time };
    expect(await client.public.runs.retrieve(tool.id, read)).toEqual({
      status: "ERROR",
      start_time: micros(start_time),
    });
    const shareUrl = async ({ id }: Run) =>
      (await client.runs.retrieve(id, { project_id: project, selects: ["SHARE_URL"] })).share_url;
    expect(await shareUrl(root)).toBe(`${server.url}/public/${token}/r`);
    expect(await shareUrl(tool)).toBe(`${server.url}/public/${token}/r`);
    expect(await shareUrl(secret)).toBeUndefined();

    await client.runs.share.delete(root.id, { session_id: MISSING_ID });
    expect((await open("POST", "/runs/query", {})).status).toBe(200);
    await client.runs.share.delete(root.id, { session_id: project });
    await client.runs.share.delete(root.id, { session_id: project });
    const gone = await open("POST", "/runs/query", {});
    expect([gone.status, gone.headers.get("content-type")]).toEqual([
      404,
      "application/problem+json",
    ]);
    expect(await shareUrl(root)).toBeUndefined();
  });

  test("of a single run shows what is below that run only", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 partial share");
    const { root, model, tool } = makeTrace(HOUR_MS);
    await store(workspace, "partial", [root, model, tool]);
    const shared = await workspace.api("PUT", `/runs/${model.id}/share`, {});
    const { share_token } = (await shared.json()) as { share_token: string };
    const { runs } = workspace.client.public;
    expect(await runs.query(share_token, {})).toEqual({ items: [{ id: model.id }] });
    const read = { share_token, selects: ["ID"], start_time: String(root.body["start_time"]) };
    await expect(runs.retrieve(root.id, read)).rejects.toMatchObject({ status: 404 });
  });

  test("is shared by whoever may read it only", async ({ server, expect }) => {
    const owner = await tracingWorkspace(server, "v2 owner");
    const stranger = await tracingWorkspace(server, "v2 stranger");
    const run = makeRun(1000, {});
    const project = await store(owner, "mine", [run]);
    const other = await store(owner, "also mine", [makeRun(1000, {})]);
    const { share } = owner.client.runs;
    for (const attempt of [
      () => stranger.client.runs.share.create(run.id, {}),
      () => share.create(run.id, { session_id: other }),
      () => share.create(run.id, { session_id: project, trace_id: MISSING_ID }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ status: 404 });
    }
    const { share_token: token = "" } = await share.create(run.id, { session_id: project });
    await stranger.client.runs.share.delete(run.id, {});
    expect(await owner.client.public.runs.query(token, {})).toEqual({ items: [{ id: run.id }] });
  });
});

describe("what is refused", () => {
  test("is refused with problem details", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 problems");
    const project = await store(workspace, "problems", [makeRun(1000, {})]);
    const query = (body: object | string) =>
      server.fetch("/api/v2/runs/query", {
        method: "POST",
        headers: { "x-api-key": workspace.apiKey },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
    const problem = async (response: Response) => ({
      type: response.headers.get("content-type"),
      body: (await response.json()) as Record<string, unknown>,
    });
    const own = { project_ids: [project] };
    expect(await problem(await query({ ...own, filter: "eq(nome, 1)" }))).toEqual({
      type: "application/problem+json",
      body: {
        type: "about:blank",
        title: "Bad Request",
        status: 400,
        detail: expect.stringMatching(/^filter: at character 3: unknown field nome/),
        instance: "/api/v2/runs/query",
        errors: [
          {
            loc: ["body", "filter"],
            msg: expect.stringMatching(/^at character 3: unknown field nome/),
            type: "filter_syntax",
          },
        ],
      },
    });
    for (const [body, status, detail] of [
      ["{", 400, /JSON decode error/],
      [{}, 400, /^project_ids: Field required$/],
      [{ ...own, cursor: "x" }, 400, /^cursor: Input should be a cursor of an earlier page$/],
      [{ project_ids: [] }, 422, /^project_ids: List should have at least 1 items$/],
      [{ project_ids: ["x"] }, 422, /^project_ids\.0: Input should be a valid UUID$/],
      [{ ...own, reference_dataset_id: MISSING_ID }, 422, /exclude each other$/],
      [{ ...own, projects: [] }, 422, /^projects: Extra inputs are not permitted$/],
      [{ ...own, ai_query: "all" }, 422, /^ai_query: .* not available on this server$/],
      [{ ...own, page_size: 1001 }, 422, /^page_size: Input should be less than or equal to 1000$/],
      [{ ...own, sort_order: "asc" }, 422, /^sort_order: Input should be 'ASC' or 'DESC'$/],
      [{ ...own, run_type: "llm" }, 422, /^run_type: Input should be 'TOOL', 'CHAIN'/],
      [{ ...own, selects: ["PARENT_RUN_ID"] }, 422, /^selects\.0: Input should be 'ID', 'NAME'/],
      [{ ...own, min_start_time: "today" }, 422, /^min_start_time: .* valid datetime$/],
      [{ project_ids: [project, MISSING_ID] }, 404, /^Project 0.* not found$/],
    ] as const) {
      const answer = await query(body);
      const { type, body: given } = await problem(answer);
      expect([answer.status, type, given["status"]]).toEqual([
        status,
        "application/problem+json",
        status,
      ]);
      expect(given["detail"]).toMatch(detail);
    }
  });

  test("is refused by every route, with the status the client knows", async ({
    server,
    expect,
  }) => {
    const { client } = await tracingWorkspace(server, "v2 refusals");
    const stranger = await tracingWorkspace(server, "v2 refused stranger");
    const project = await store(stranger, "of a stranger", [makeRun(1000, {})]);
    const notFound = { status: 404, error: { title: "Not Found" } };
    for (const attempt of [
      () => client.runs.query({ project_ids: [project] }),
      () => client.runs.retrieve(MISSING_ID, { project_id: project }),
      () => client.runs.getURL(MISSING_ID, { project_id: project, trace_id: MISSING_ID }),
      () => client.traces.listRuns(MISSING_ID, { project_id: project }),
      () => client.traces.query({ project_id: project }),
      () => client.threads.query({ project_id: project }),
      () => client.threads.listTraces("t", { project_id: project }),
      () => client.threads.stats("t", { session_id: project, selects: ["TURNS"] }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({
        ...notFound,
        error: { detail: `Project ${project} not found` },
      });
    }
    const own = await tracingWorkspace(server, "v2 own");
    const mine = await store(own, "mine", [makeRun(1000, {})]);
    for (const attempt of [
      () => own.client.traces.query({ project_id: mine, tree_filter: "and()" }),
      () => own.client.threads.query({ project_id: mine, filter: "and()" }),
      () => own.client.threads.listTraces("t", { project_id: mine, filter: "and()" }),
      () =>
        own.client.threads.stats("t", { session_id: mine, selects: ["TURNS"], filter: "and()" }),
      () => own.client.traces.listRuns(MISSING_ID, { project_id: mine, filter: "and()" }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ status: 400 });
    }
    await expect(
      own.client.threads.query({ project_id: mine, thread_filter: "gt(count, 1)" }),
    ).rejects.toMatchObject({ status: 422 });
  });

  test("is told as problem details also without a key, or a route", async ({ server, expect }) => {
    const { apiKey } = await tracingWorkspace(server, "v2 no route");
    const withoutKey = await server.fetch("/api/v2/runs/query", { method: "POST", body: "{}" });
    const noRoute = await server.fetch("/api/v2/nothing", { headers: { "x-api-key": apiKey } });
    for (const [response, status] of [
      [withoutKey, 401],
      [noRoute, 404],
    ] as const) {
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.json()).toMatchObject({ status });
    }
  });
});

test("times have microseconds", async ({ server, expect }) => {
  const workspace = await tracingWorkspace(server, "v2 times");
  const run = makeRun(1000, {});
  const project = await store(workspace, "times", [run]);
  const read = await workspace.client.runs.retrieve(run.id, {
    project_id: project,
    selects: ["START_TIME", "END_TIME"],
  });
  expect(read).toEqual({ start_time: expect.stringMatching(MICRO_TIME), end_time: null });
});
