import { describe, vi } from "vitest";
import { RUN_SELECT, type RunSelect } from "../../src/tracing/api/v1/runs/run-schema.ts";
import { ingestWorkspace } from "../support/ingest.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import {
  ask,
  type Json,
  linkOf,
  type Page,
  projectId,
  query,
  readRun,
  selected,
  status,
} from "../support/stored-runs.ts";
import { type RunData, runData, segment } from "../support/trace-data.ts";

const test = testWithServer();
const testWithShortLife = testWithServer({
  // Far longer than the time that the tests need before the traces expire.
  SHORTLIVED_TRACE_SECONDS: "15",
  LONGLIVED_TRACE_SECONDS: "3600",
});

const NOON = new Date("2026-03-01T12:00:00Z");
const MIDNIGHT = new Date("2026-03-02T00:00:00Z");

describe("single runs", () => {
  const SINGLE = { name: "single", run_type: "chain", session_name: "p" };

  test("need no id: the server creates and returns one", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "unnamed");
    const since = Date.now();
    const { id, ...answer } = await ask(workspace, "POST", "/runs", {
      ...SINGLE,
      inputs: {},
    });
    expect(answer).toEqual({ message: "Runs accepted" });
    const run = await readRun(workspace, String(id));
    expect(run).toMatchObject({ id, trace_id: id, name: "single", status: "pending" });
    expect(Date.parse(String(run["start_time"]))).toBeGreaterThanOrEqual(since);
    await workspace.client.createRun({ name: "by the client", run_type: "tool", inputs: { a: 1 } });
    const { runs } = await query(workspace, { filter: 'eq(name, "by the client")' });
    expect(runs).toMatchObject([{ run_type: "tool", inputs: { a: 1 } }]);
  });

  test("need no position in the tree", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "single");
    const [id, below] = [crypto.randomUUID(), crypto.randomUUID()];
    const start_time = NOON.toISOString();
    expect(await status(workspace, "POST", "/runs", { ...SINGLE, id, start_time })).toBe(202);
    const child = { ...SINGLE, id: below, start_time: MIDNIGHT.getTime(), parent_run_id: id };
    expect(await status(workspace, "POST", "/runs", child)).toBe(202);
    expect(await readRun(workspace, below)).toMatchObject({
      trace_id: id,
      parent_run_id: id,
      parent_run_ids: [id],
      dotted_order: `${segment(NOON, id)}.${segment(MIDNIGHT, below)}`,
      status: "pending",
    });
    const update = { end_time: MIDNIGHT.getTime() + 1, outputs: { done: true } };
    expect(await status(workspace, "PATCH", `/runs/${below}`, update)).toBe(202);
    expect(await readRun(workspace, below)).toMatchObject({
      status: "success",
      end_time: "2026-03-02T00:00:00.001000Z",
      outputs: { done: true },
      name: "single",
    });
    // The request is repeated, as by a client that got no answer.
    expect(await status(workspace, "POST", "/runs", child)).toBe(202);
    expect(await readRun(workspace, below)).toMatchObject({ status: "success" });
    const { run_count } = await ask(workspace, "POST", "/runs/stats", { trace: id });
    expect(run_count).toBe(2);
  });

  test("are refused if their parent or project is unknown", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "unknown");
    const [id, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const run = { ...SINGLE, id, start_time: 0 };
    const answer = async (...request: [string, string, unknown?]) => {
      const response = await workspace.api(...request);
      return [response.status, ((await response.json()) as Json)["detail"]];
    };
    expect(await answer("POST", "/runs", { ...run, parent_run_id: other })).toEqual([
      404,
      `parent_run_id: run ${other} not found, so dotted_order cannot be computed`,
    ]);
    expect(await answer("POST", "/runs", { ...run, session_id: other })).toEqual([
      404,
      `session_id: project ${other} not found`,
    ]);
    const place = { trace_id: id, dotted_order: segment(NOON, id), session_id: other };
    expect(await answer("PATCH", `/runs/${id}`, place)).toEqual([
      404,
      `session_id: project ${other} not found`,
    ]);
    expect(await answer("PATCH", `/runs/${id}`, {})).toEqual([404, `Run ${id} not found`]);
    expect(await status(workspace, "GET", `/runs/${id}`)).toBe(404);
  });
});

/** Stores a trace with all kinds of data: over two days, with attachments, usage and feedback. */
async function everything(server: TestServer) {
  const workspace = await ingestWorkspace(server, "everything");
  const example = crypto.randomUUID();
  const usage_metadata = {
    input_tokens: 5,
    output_tokens: 2,
    input_token_details: { audio: 1 },
    output_token_details: { reasoning: 2 },
    input_cost: 0.5,
    output_cost: 0.25,
    input_cost_details: { audio: 0.125 },
    output_cost_details: { reasoning: 0.25 },
  };
  const top = runData("p", {
    start: NOON,
    run_type: "llm",
    end_time: "2026-03-01T12:00:02.5Z",
    inputs: { q: 1 },
    outputs: { a: 2, usage_metadata },
    error: "broken",
    events: [{ name: "new_token", time: "2026-03-01T12:00:01Z" }],
    extra: { metadata: { thread_id: "t", env: "prod" } },
    serialized: { s: 1 },
    tags: ["x"],
    reference_example_id: example,
  });
  const below = runData("p", { parent: top, start: MIDNIGHT });
  await workspace.multipart([
    { name: `post.${top.id}`, body: JSON.stringify(top) },
    { name: `attachment.${top.id}.photo`, body: "a photo", contentType: "image/png" },
    { name: `post.${below.id}`, body: JSON.stringify(below) },
  ]);
  await ask(workspace, "POST", "/feedback", { run_id: top.id, key: "k", score: 0.5 });
  const share = await ask(workspace, "PUT", `/runs/${top.id}/share`, {});
  await vi.waitUntil(
    async () => (await query(workspace, { trace: top.id })).runs.length === 2,
    150_000,
  );
  return { ...workspace, top, below, example, share, project: await projectId(workspace, "p") };
}

const testOfEverything = test.extend("everything", { scope: "file" }, ({ server }) =>
  everything(server),
);

describe("the selected fields of a run", () => {
  testOfEverything(
    "are returned, together with those that always are",
    async ({ everything, expect }) => {
      const { top, below, example, share, project, id: workspaceId } = everything;
      const url = { presigned_url: expect.stringMatching(/^http.*\/api\/v1\/attachments\//) };
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      const always = {
        id: top.id,
        name: "a run",
        run_type: "llm",
        start_time: "2026-03-01T12:00:00.000000Z",
        trace_id: top.id,
        dotted_order: top.dotted_order,
        status: "error",
        session_id: project,
        app_path: expect.stringMatching(
          new RegExp(`^/o/${workspaceId}/projects/p/${project}/r/${top.id}`),
        ),
        s3_urls: { "attachment.photo": { ...url, mime_type: "image/png" } },
        prompt_token_details: { audio: 1 },
        completion_token_details: { reasoning: 2 },
        prompt_cost_details: { audio: "0.125" },
        completion_cost_details: { reasoning: "0.25" },
      };
      const members: Partial<Record<RunSelect, Json>> = {
        end_time: { end_time: "2026-03-01T12:00:02.500000Z" },
        error: { error: "broken" },
        error_or_signed_url: { error: "broken" },
        extra: { extra: top["extra"] },
        extra_or_signed_url: { extra: top["extra"] },
        events: { events: top["events"] },
        events_or_signed_url: { events: top["events"] },
        inputs: { inputs: { q: 1 } },
        inputs_or_signed_url: { inputs: { q: 1 }, inputs_s3_urls: null },
        inputs_preview: { inputs_preview: '{"q":1}' },
        inputs_s3_urls: { inputs_s3_urls: null },
        outputs: { outputs: top["outputs"] },
        outputs_or_signed_url: { outputs: top["outputs"], outputs_s3_urls: null },
        outputs_preview: { outputs_preview: expect.stringMatching(/^\{"a":2,"usage_metadata":/) },
        outputs_s3_urls: { outputs_s3_urls: null },
        serialized: { serialized: { s: 1 } },
        serialized_or_signed_url: { serialized: { s: 1 } },
        parent_run_id: { parent_run_id: null },
        parent_run_ids: { parent_run_ids: [] },
        manifest_id: { manifest_id: null },
        manifest_s3_id: { manifest_s3_id: null },
        reference_example_id: { reference_example_id: example },
        reference_dataset_id: { reference_dataset_id: null },
        total_tokens: { total_tokens: 7 },
        prompt_tokens: { prompt_tokens: 5 },
        completion_tokens: { completion_tokens: 2 },
        total_cost: { total_cost: "0.75" },
        prompt_cost: { prompt_cost: "0.5" },
        completion_cost: { completion_cost: "0.25" },
        price_model_id: { price_model_id: null },
        first_token_time: { first_token_time: "2026-03-01T12:00:01.000000Z" },
        last_queued_at: { last_queued_at: time },
        inserted_at: { inserted_at: time },
        feedback_stats: { feedback_stats: { k: expect.objectContaining({ n: 1, avg: 0.5 }) } },
        child_run_ids: { child_run_ids: [below.id], direct_child_run_ids: [below.id] },
        tags: { tags: ["x"] },
        in_dataset: { in_dataset: false },
        share_token: { share_token: share["share_token"] },
        trace_tier: { trace_tier: "longlived" },
        trace_first_received_at: { trace_first_received_at: time },
        ttl_seconds: { ttl_seconds: 400 * 86_400 },
        trace_upgrade: { trace_upgrade: true },
        thread_id: { thread_id: "t" },
        trace_min_max_start_time: {
          trace_min_start_time: "2026-03-01T12:00:00.000000Z",
          trace_max_start_time: "2026-03-02T00:00:00.000000Z",
        },
      };
      for (const name of RUN_SELECT) {
        const { runs } = await query(everything, { id: [top.id], select: [name] });
        expect([name, runs]).toEqual([name, [{ ...always, ...members[name] }]]);
      }
      const { runs } = await query(everything, { id: [below.id], select: ["inputs", "outputs"] });
      expect(runs).toMatchObject([{ inputs: {}, outputs: null, status: "pending" }]);
    },
  );
});

describe("pages", () => {
  test("contain every run once, even if all runs start at the same time", async ({
    server,
    expect,
  }) => {
    const workspace = await ingestWorkspace(server, "pages");
    const runs = Array.from({ length: 130 }, (_, index) =>
      runData(index % 2 === 0 ? "even" : "odd", { start: NOON }),
    );
    await workspace.batch({ post: runs });
    const ids = runs.map(({ id }) => id).toSorted();
    for (const [order, limit, sizes] of [
      ["asc", undefined, [100, 30]],
      ["desc", 1000, [100, 30]],
      ["desc", 65, [65, 65]],
      ["asc", 64, [64, 64, 2]],
    ] as const) {
      const pages: unknown[][] = [];
      let cursor: string | null = null;
      do {
        const page: Page = await query(workspace, { order, limit, cursor, select: ["id"] });
        pages.push(page.runs.map(({ id }) => id));
        cursor = page.cursors.next;
      } while (cursor !== null);
      expect(pages.map(({ length }) => length)).toEqual(sizes);
      expect(pages.flat()).toEqual(order === "asc" ? ids : ids.toReversed());
    }
    for (const body of [{ limit: 0 }, { limit: -1 }, { limit: 1.5 }, { cursor: "nonsense" }]) {
      expect([body, await status(workspace, "POST", "/runs/query", body)]).toEqual([body, 422]);
    }
  });
});

test("traces are deleted with their payloads and feedback", async ({ server, expect }) => {
  const workspace = await ingestWorkspace(server, "gone");
  const [top, other] = [runData("p", { start: NOON }), runData("p", { start: NOON })];
  const below = runData("p", {
    parent: top,
    start: MIDNIGHT,
    inputs: { text: "x".repeat(70_000) },
  });
  await workspace.batch({ post: [top, below, other] });
  for (const { id } of [below, other]) {
    await ask(workspace, "POST", "/feedback", { run_id: id, key: "k", score: 1 });
  }
  const link = linkOf((await selected(workspace, below.id, ["inputs_s3_urls"]))["inputs_s3_urls"]);
  const body = { session_id: await projectId(workspace, "p"), trace_ids: [top.id] };
  await ask(workspace, "POST", "/runs/delete", body);
  const { runs } = await query(workspace, { select: ["id"] });
  expect(runs.map(({ id }) => id)).toEqual([other.id]);
  expect(await status(workspace, "GET", `/runs/${below.id}`)).toBe(404);
  expect((await fetch(link)).status).toBe(404);
  const left = await ask<{ run_id: string }[]>(workspace, "GET", "/feedback?key=k");
  expect(left.map(({ run_id }) => run_id)).toEqual([other.id]);
  // Deleting a missing trace succeeds.
  await ask(workspace, "POST", "/runs/delete/traces", body);
});

describe("payloads", () => {
  const wrap = (text: string) => JSON.stringify({ text });

  test("are returned completely, on both sides of the size above which they are stored separately", async ({
    server,
    expect,
  }) => {
    const workspace = await ingestWorkspace(server, "sizes");
    for (const [chars, isApart] of [
      [65_535, false],
      [65_536, true],
      [65_537, true],
    ] as const) {
      for (const letter of ["x", "語", "\u{1F600}"]) {
        const count = (chars - wrap("").length) / letter.length;
        const text = letter.repeat(Math.floor(count)) + (Number.isInteger(count) ? "" : "y");
        const run = runData("p", { inputs: { text }, outputs: { text } });
        expect(JSON.stringify(run["inputs"])).toHaveLength(chars);
        await workspace.batch({ post: [run] });
        const select = ["inputs", "outputs_or_signed_url"];
        const found = await selected(workspace, run.id, select);
        expect(JSON.stringify(found["inputs"]) === wrap(text)).toBe(true);
        if (!isApart) {
          expect(found["outputs_s3_urls"]).toBeNull();
          expect(JSON.stringify(found["outputs"]) === wrap(text)).toBe(true);
          continue;
        }
        expect(found).not.toHaveProperty("outputs");
        const response = await fetch(linkOf(found["outputs_s3_urls"]));
        expect(response.headers.get("content-type")).toBe("application/json");
        expect((await response.text()) === wrap(text)).toBe(true);
      }
    }
  });

  test("keep every number and every character as written", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "exact");
    const texts = {
      inputs:
        '{"n":[18446744073709551615,-9223372036854775808,9007199254740993,1.10,1E+2,0.1e-7,-0],' +
        '"__proto__":{"a":1},"constructor":"c","s":"\\u0000 \\ud83d\\ude00 \\/ é\\u2028 \\ud800"}',
      outputs: `${'{"a":'.repeat(400)}[1.0]${"}".repeat(400)}`,
      events: '[{"name":"e","kwargs":{"n":12345678901234567890}}]',
      serialized: '{ "spaced" : 1.00 }',
    };
    const run = runData("p");
    const large = `{"n":9007199254740993,"text":"${"\\u0000".repeat(20_000)}"}`;
    const apart = runData("p");
    const fields = Object.entries(texts).map(([name, text]) => `"${name}":${text}`);
    const bodies = [
      `${JSON.stringify(run).slice(0, -1)},${fields.join(",")}}`,
      `${JSON.stringify(apart).slice(0, -1)},"inputs":${large}}`,
    ];
    expect((await workspace.batch(`{"post":[${bodies.join(",")}]}`)).status).toBe(202);
    const select = Object.keys(texts);
    const response = await workspace.api("POST", "/runs/query", { id: [run.id], select });
    const text = await response.text();
    for (const [name, value] of Object.entries(texts)) expect(text).toContain(`"${name}":${value}`);
    const other = await workspace.api("POST", "/runs/query", { id: [apart.id], select });
    expect((await other.text()).includes(`"inputs":${large}`)).toBe(true);
  });

  test("can be searched for any text", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "searched");
    const strange = 'naïve 語 \u{1F600} "quoted" back\\slash 100% a_b';
    const run = runData("p", {
      inputs: { deep: [{ text: strange }], __proto__: 1 },
      extra: { metadata: { strange, "dotted.key": 1, nested: { a: [true] } } },
      tags: [strange],
      name: strange,
    });
    const other = runData("p", { inputs: { deep: [{ text: "plain" }] } });
    await workspace.batch({ post: [run, other] });
    const quoted = JSON.stringify(strange);
    for (const filter of [
      `eq(name, ${quoted})`,
      `has(tags, ${quoted})`,
      `and(eq(metadata_key, "strange"), eq(metadata_value, ${quoted}))`,
      `and(eq(input_key, "deep.text"), eq(input_value, ${quoted}))`,
      'and(eq(metadata_key, "dotted.key"), eq(metadata_value, "1"))',
      'and(eq(metadata_key, "nested.a"), eq(metadata_value, "true"))',
      'search("naïve 語 slash")',
    ]) {
      const { runs } = await query(workspace, { filter, select: ["id"] });
      expect([filter, runs.map(({ id }) => id)]).toEqual([filter, [run.id]]);
    }
  });
});

describe("amounts and statistics", () => {
  test("follow the workspace's prices and the feedback", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "amounts");
    await ask(workspace, "POST", "/model-price-map", {
      name: "House",
      match_pattern: "^house",
      prompt_cost: "0.001",
      completion_cost: "0.01",
      prompt_cost_details: { cache_read: "0.0001" },
    });
    const top = runData("p", { start: NOON, end_time: NOON.getTime() + 2000, tags: ["x"] });
    const model = runData("p", {
      parent: top,
      start: MIDNIGHT,
      end_time: MIDNIGHT.getTime() + 500,
      run_type: "llm",
      error: "late",
      extra: { metadata: { ls_model_name: "house-1", env: "prod" } },
      outputs: {
        usage_metadata: {
          input_tokens: 10,
          output_tokens: 1,
          input_token_details: { cache_read: 4 },
        },
      },
    });
    await workspace.batch({ post: [model] });
    await workspace.batch({ post: [top] });
    const costs = { prompt_cost: "0.0064", completion_cost: "0.01", total_cost: "0.0164" };
    await vi.waitFor(async () => {
      const { runs } = await query(workspace, { trace: top.id, order: "asc" });
      expect(runs).toMatchObject([
        { id: top.id, total_tokens: 11, ...costs },
        { id: model.id, total_tokens: 11, ...costs, prompt_cost_details: { cache_read: "0.0004" } },
      ]);
    }, 60_000);
    for (const body of [
      { score: 1 },
      { score: 0, value: "bad" },
      { value: "bad" },
      { score: 5, error: true },
    ]) {
      await ask(workspace, "POST", "/feedback", { run_id: top.id, key: "k", ...body });
    }
    const judged = { n: 3, avg: 0.5, min: 0, max: 1, values: { bad: 2 }, errors: 1 };
    const project = await projectId(workspace, "p");
    const path = `/sessions/${project}?include_stats=true`;
    for (const { feedback_stats } of [
      await readRun(workspace, top.id),
      await ask(workspace, "POST", "/runs/stats", { is_root: true }),
      await ask(workspace, "GET", path),
    ]) {
      expect(feedback_stats).toMatchObject({ k: judged });
    }
    expect(await ask(workspace, "GET", path)).toMatchObject({
      run_count: 1,
      latency_p50: 2,
      error_rate: 0,
      total_tokens: 11,
      ...costs,
      last_run_start_time: "2026-03-01T12:00:00.000000Z",
    });
    const select = ["run_count", "error_rate", "latency_p99", "total_cost"];
    expect(await ask(workspace, "POST", "/runs/stats", { session: [project], select })).toEqual({
      run_count: 2,
      error_rate: 0.5,
      latency_p99: 1.985,
      total_cost: "0.0328",
    });
    const group = async (group_by: object) =>
      ask(workspace, "POST", "/runs/stats", { group_by, select: ["run_count"] });
    expect(await group({ attribute: "run_type" })).toEqual({
      chain: { run_count: 1 },
      llm: { run_count: 1 },
    });
    expect(await group({ attribute: "tag" })).toEqual({ x: { run_count: 1 } });
    expect(await group({ attribute: "metadata", path: "env" })).toEqual({ prod: { run_count: 1 } });
    expect(await group({ attribute: "name", max_groups: 1 })).toEqual({
      "a run": { run_count: 2 },
    });
  });

  test("are sorted by start time over several days, and need a range that is not too long", async ({
    server,
    expect,
  }) => {
    const workspace = await ingestWorkspace(server, "intervals");
    const at = (minute: number, error?: string): RunData => {
      const start = new Date(MIDNIGHT.getTime() + minute * 60_000);
      return runData("p", { start, end_time: start.getTime() + 1000, ...(error && { error }) });
    };
    await workspace.batch({ post: [at(65), at(-5), at(5), at(20, "broken")] });
    const group = async (fields: object, start_time: string | null = "2026-02-27T00:00:00Z") =>
      ask(workspace, "POST", "/runs/stats", {
        group_by: { attribute: "start_time", interval_seconds: 3600, ...fields },
        select: ["run_count", "error_rate", "latency_p50"],
        start_time,
        end_time: "2026-03-04T00:00:00Z",
      });
    const hour = (offset: number): string =>
      new Date(MIDNIGHT.getTime() + offset * 3_600_000).toISOString().replace("Z", "000Z");
    const groups = await group({});
    expect(groups).toEqual({
      [hour(-1)]: { run_count: 1, error_rate: 0, latency_p50: 1 },
      [hour(0)]: { run_count: 2, error_rate: 0.5, latency_p50: 1 },
      [hour(1)]: { run_count: 1, error_rate: 0, latency_p50: 1 },
    });
    expect(Object.keys(groups)).toEqual([hour(-1), hour(0), hour(1)]);
    const field = "group_by.interval_seconds";
    for (const [fields, start, named] of [
      [{ interval_seconds: null }, undefined, field],
      [{ interval_seconds: 9 }, undefined, field],
      [{ interval_seconds: 60 }, undefined, field],
      [{}, null, "start_time"],
    ] as const) {
      const refused = await group(fields, start).catch(String);
      const loc = JSON.stringify(["body", ...named.split(".")]);
      expect(refused).toMatch(/422/);
      expect(refused).toContain(loc);
    }
  });

  test("count the roots of threads", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "threads");
    const turn = (thread_id: string, minute: number, fields: Json = {}): RunData => {
      const start = new Date(MIDNIGHT.getTime() + minute * 60_000);
      const extra = { metadata: { thread_id } };
      return runData("p", { start, end_time: start.getTime() + 1000, extra, ...fields });
    };
    const first = turn("a", -5, { inputs: { q: "first" }, outputs: { a: 1 } });
    const last = turn("a", 5, {
      inputs: { q: "last" },
      outputs: { a: 2, usage_metadata: { input_tokens: 3, total_cost: 0.5 } },
    });
    const below = turn("a", 6, { parent: last });
    await workspace.batch({
      post: [first, last, below, turn("b", 0), runData("p", { start: NOON })],
    });
    const session_id = await projectId(workspace, "p");
    const body = { session_id, group_by: "conversation" };
    const { groups, total } = await ask<{ groups: Json[]; total: number }>(
      workspace,
      "POST",
      "/runs/group",
      body,
    );
    expect(total).toBe(2);
    expect(groups).toMatchObject([
      {
        group_key: "a",
        count: 2,
        total_tokens: 3,
        total_cost: 0.5,
        min_start_time: "2026-03-01T23:55:00.000000Z",
        max_start_time: "2026-03-02T00:05:00.000000Z",
        latency_p50: 1,
        first_inputs: "first",
        last_outputs: expect.stringContaining('"a":2'),
      },
      { group_key: "b", count: 1, total_tokens: 0, total_cost: null },
    ]);
    const page = await ask(workspace, "POST", "/runs/group", { ...body, offset: 1, limit: 1 });
    expect(page).toMatchObject({ groups: [{ group_key: "b" }], total: 2 });
    const stats = await ask(workspace, "POST", "/runs/group/stats", body);
    expect(stats).toMatchObject({ run_count: 3, group_count: 2, total_tokens: 3 });
  });
});

describe("traces with a retention of seconds", () => {
  testWithShortLife("are deleted by themselves, and others stay", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "short");
    const text = "x".repeat(70_000);
    const [short, praised, long] = [
      runData("short", { inputs: { text } }),
      runData("short", { inputs: { text } }),
      runData("long", { inputs: { text } }),
    ];
    await ask(workspace, "POST", "/sessions", { name: "long", trace_tier: "longlived" });
    await workspace.batch({ post: [short, praised, long] });
    const feedback = (run_id: string, more: Json = {}) =>
      ask(workspace, "POST", "/feedback", { run_id, key: "k", score: 1, ...more });
    await feedback(praised.id);
    await feedback(short.id, { extend_trace_retention: false });
    const found = await selected(workspace, short.id, ["inputs_s3_urls"]);
    const link = linkOf(found["inputs_s3_urls"]);
    expect((await fetch(link)).status).toBe(200);
    await vi.waitUntil(async () => (await status(workspace, "GET", `/runs/${short.id}`)) === 404, {
      timeout: 150_000,
      interval: 100,
    });
    await vi.waitUntil(async () => (await fetch(link)).status === 404, 60_000);
    const ids = (await query(workspace, { select: ["id"] })).runs.map(({ id }) => String(id));
    expect(ids.toSorted()).toEqual([praised.id, long.id].toSorted());
    const left = await ask<{ run_id: string }[]>(workspace, "GET", `/feedback?key=k`);
    expect(left.map(({ run_id }) => run_id)).toEqual([praised.id]);
  });
});

test("a project is deleted with its traces, and its name is free at once", async ({
  server,
  expect,
}) => {
  const workspace = await ingestWorkspace(server, "deleted");
  const run = runData("p", { inputs: { text: "x".repeat(70_000) } });
  await workspace.batch({ post: [run] });
  const old = await projectId(workspace, "p");
  const shared = await ask(workspace, "PUT", `/runs/${run.id}/share`, {});
  await ask(workspace, "DELETE", `/sessions/${old}`);
  const publicRun = `/api/v1/public/${String(shared["share_token"])}/run`;
  expect((await server.fetch(publicRun)).status).toBe(404);
  expect(await status(workspace, "GET", `/runs/${run.id}`)).toBe(404);
  expect((await query(workspace, {})).runs).toEqual([]);
  await workspace.batch({ post: [runData("p", { id: run.id, name: "again" })] });
  await server.sweep();
  const { runs } = await query(workspace, { select: ["name"] });
  expect(runs.map(({ name, session_id }) => [name, session_id])).toEqual([
    ["again", await projectId(workspace, "p")],
  ]);
  expect(runs[0]?.["session_id"]).not.toBe(old);
});
