import { describe } from "vitest";
import { after, ended, makeRun, makeTrace, micros, storeRuns } from "../support/sample-runs.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace } from "../support/tracing.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithSharedServer();

const HOUR_MS = 3_600_000;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

describe("runs.query", () => {
  test("returns ids unless fields are selected", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 ids");
    const { root, model, tool } = makeTrace(HOUR_MS);
    const project = await storeRuns(workspace, "ids", [root, model, tool]);
    const page = await workspace.client.runs.query({ project_ids: [project] });
    expect(page.items).toEqual([{ id: tool.id }, { id: model.id }, { id: root.id }]);
  });

  test("has the selected fields of each run", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 fields");
    const { root, model, tool } = makeTrace(HOUR_MS, { env: "prod" });
    const project = await storeRuns(workspace, "fields", [root, model, tool]);
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

  test("returns every run once over many pages, in either order", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 pages");
    // Two runs have the same time, and one is in yesterday's or today's shard, depending on the time of the test.
    const runs = [20 * HOUR_MS, 7000, 5000, 5000, 3000, 1000].map((ago) => makeRun(ago, {}));
    const project = await storeRuns(workspace, "pages", runs);
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

  test("covers the last day by default, and the same range on later pages", async ({
    server,
    expect,
  }) => {
    const workspace = await tracingWorkspace(server, "v2 window");
    const old = makeRun(30 * HOUR_MS, {});
    const [first, second] = [4000, 3000].map((ago) => makeRun(ago, {}));
    if (!first || !second) throw new Error("no runs");
    const project = await storeRuns(workspace, "window", [old, first, second]);
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
    const oldestFirst = { sort_order: "ASC" };
    const page = await query({ ...oldestFirst, page_size: 1 });
    // The run starts after the first page's request and before the second one's.
    await storeRuns(workspace, "window", [makeRun(-1, {})]);
    const rest = await collect(query({ ...oldestFirst, cursor: page.next_cursor }));
    expect(rest).toEqual([{ id: second.id }]);
  });

  test("filters by every member of the query", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 selection");
    const { root, model, tool } = makeTrace(HOUR_MS, { env: "prod" });
    const open = makeRun(1000, { name: "open", reference_example_id: MISSING_ID });
    const project = await storeRuns(workspace, "selection", [root, model, tool, open]);
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

  test("covers the experiments of a dataset from their start on", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 dataset");
    const start_time = new Date(Date.now() - 40 * HOUR_MS).toISOString();
    const created = await workspace.api("POST", "/sessions", {
      name: "experiment",
      reference_dataset_id: MISSING_ID,
      start_time,
    });
    expect(created.status).toBe(200);
    const run = makeRun(30 * HOUR_MS, {});
    await storeRuns(workspace, "experiment", [run]);
    await storeRuns(workspace, "no experiment", [makeRun(1000, {})]);
    const query = { reference_dataset_id: MISSING_ID };
    expect(await collect(workspace.client.runs.query(query))).toEqual([{ id: run.id }]);
  });

  test("returns payloads of any size", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 large");
    const outputs = { text: "sunny ".repeat(50_000), exact: "end" };
    const inputs = { list: Array.from({ length: 30_000 }, (_, index) => index) };
    const runs = [3000, 2000].map((ago) => ended(makeRun(ago, { inputs }), 10, { outputs }));
    const project = await storeRuns(workspace, "large", runs);
    const { items } = await workspace.client.runs.query({
      project_ids: [project],
      selects: ["INPUTS", "OUTPUTS", "NAME"],
    });
    expect(items).toEqual([
      { inputs, outputs, name: "run" },
      { inputs, outputs, name: "run" },
    ]);
  });

  test("keeps numbers that a double cannot represent", async ({ server, expect }) => {
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
    const project = await storeRuns(workspace, "retrieve", [root, model, tool]);
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

  test("finds no run outside of the project", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 elsewhere");
    const run = makeRun(1000, {});
    await storeRuns(workspace, "one", [run]);
    const other = await storeRuns(workspace, "other", [makeRun(1000, {})]);
    await expect(
      workspace.client.runs.retrieve(run.id, { project_id: other }),
    ).rejects.toMatchObject({ status: 404, error: { detail: `Run ${run.id} not found` } });
    await expect(
      workspace.client.runs.retrieve(MISSING_ID, { project_id: other }),
    ).rejects.toMatchObject({ status: 404, error: { detail: `Run ${MISSING_ID} not found` } });
  });

  test("getURL links to the console", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 url");
    const { root, model } = makeTrace(HOUR_MS);
    const project = await storeRuns(workspace, "url", [root, model]);
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
    const project = await storeRuns(workspace, "trace", [root, model, tool, makeRun(1000, {})]);
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

  test("query has root runs with the figures of their whole traces", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 traces");
    const first = makeTrace(HOUR_MS);
    const second = makeRun(1000, { name: "other" });
    const project = await storeRuns(workspace, "traces", [...Object.values(first), second]);
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
    // The end of the window is exclusive.
    expect(await query({ max_start_time: String(second.body["start_time"]) })).toEqual(agent);
  });
});

describe("a refused request", () => {
  test("gets problem details", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "v2 problems");
    const project = await storeRuns(workspace, "problems", [makeRun(1000, {})]);
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
      [{ ...own, ai_query: "all", projects: [] }, 422, /^ai_query: .* not supported: write/],
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

  test("is refused by every route with the status that the client expects", async ({
    server,
    expect,
  }) => {
    const { client } = await tracingWorkspace(server, "v2 refusals");
    const stranger = await tracingWorkspace(server, "v2 refused stranger");
    const project = await storeRuns(stranger, "of a stranger", [makeRun(1000, {})]);
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
    const mine = await storeRuns(own, "mine", [makeRun(1000, {})]);
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

  test("gets problem details also without a key or for a missing route", async ({
    server,
    expect,
  }) => {
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
  const project = await storeRuns(workspace, "times", [run]);
  const read = await workspace.client.runs.retrieve(run.id, {
    project_id: project,
    selects: ["START_TIME", "END_TIME"],
  });
  expect(read).toEqual({ start_time: expect.stringMatching(MICRO_TIME), end_time: null });
});
