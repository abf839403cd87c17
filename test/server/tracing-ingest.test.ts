import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe } from "vitest";
import { ACCEPTED, expectRun, fieldPart, ingestWorkspace, runPart } from "../support/ingest.ts";
import { multipartBody, type Part } from "../support/multipart.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { type RunData, runData, segment } from "../support/trace-data.ts";
import { collect } from "../support/tracing.ts";

const test = testWithSharedServer().extend("workspace", { scope: "file" }, ({ server }) =>
  ingestWorkspace(server, "ingest"),
);

const START = new Date("2026-08-01T12:00:00.000Z");

const hex = (id: string): string => id.replaceAll("-", "");

describe("a multipart request", () => {
  /** Returns the parts of a run with its update, separate fields, an attachment and feedback. */
  function everything(run: RunData): Part[] {
    const { id, trace_id } = run;
    const feedback = crypto.randomUUID();
    const end = { ...run, end_time: "2026-08-01T12:00:01.5Z" };
    const opinion = {
      id: feedback,
      run_id: id,
      trace_id,
      key: "user_score",
      score: 1,
      error: null,
    };
    return [
      runPart(run),
      fieldPart(run, "inputs", '{"q":"hi"}'),
      fieldPart(run, "serialized", "null"),
      runPart(end, "patch"),
      { name: `patch.${id}.outputs`, body: '{"a":"hello"}' },
      { name: `patch.${id}.extra`, body: '{"metadata":{"env":"prod"}}' },
      { name: `attachment.${id}.photo`, body: "\r\n--no boundary", contentType: "image/png" },
      { name: `feedback.${feedback}`, body: JSON.stringify(opinion) },
    ];
  }

  test.for([
    ["lengths in headers", "header", (body: string) => body],
    ["lengths in content types", "content-type", (body: string) => body],
    ["no lengths", "nowhere", (body: string) => body],
    ["LF", "header", (body: string) => body.replaceAll(/\r\n(?!--no)/g, "\n")],
    ["LF and no lengths", "nowhere", (body: string) => body.replaceAll(/\r\n(?!--no)/g, "\n")],
    [
      "headers in lower case",
      "header",
      (body: string) => body.replaceAll(/^Content-\w+:/gm, (name) => name.toLowerCase()),
    ],
    ["text around it", "header", (body: string) => `a preamble\r\n${body}an epilogue`],
  ] as const)(
    "is accepted completely with %s",
    async ([, lengthIn, change], { workspace, expect }) => {
      const run = runData("whole", { start: START, name: "agent" });
      const parts = everything(run).map((part) => Object.assign(part, { lengthIn }));
      expect(await workspace.multipart(parts, change)).toEqual(ACCEPTED);
      await expectRun(expect, workspace, run.id, {
        name: "agent",
        status: "success",
        trace_id: run.id,
        dotted_order: run.dotted_order,
        parent_run_id: null,
        start_time: "2026-08-01T12:00:00.000000Z",
        end_time: "2026-08-01T12:00:01.500000Z",
        inputs: { q: "hi" },
        outputs: { a: "hello" },
        serialized: null,
        error: null,
        extra: { metadata: { env: "prod" } },
        feedback_stats: { user_score: expect.objectContaining({ n: 1, avg: 1 }) },
        s3_urls: {
          "attachment.photo": { presigned_url: expect.any(String), mime_type: "image/png" },
        },
      });
    },
  );

  test("can have the parts of a run in any order", async ({ workspace, expect }) => {
    const [one, two, three] = [runData("order"), runData("order"), runData("order")];
    const parts = [
      fieldPart(one, "outputs", "[1]"),
      runPart(two),
      fieldPart(one, "inputs", '"first"'),
      runPart(one),
      fieldPart(two, "inputs", '"second"'),
      runPart({ ...three, end_time: "2026-08-01T12:00:01" }, "patch"),
      fieldPart(one, "error", '"broken"'),
      fieldPart(two, "extra", '{"metadata":{"a":1}}'),
      { name: `patch.${three.id}.outputs`, body: '{"third":true}' },
      runPart({ ...three, name: "third" }),
      fieldPart(three, "inputs", '{"n":3}'),
    ];
    expect(await workspace.multipart(parts)).toEqual(ACCEPTED);
    await expectRun(expect, workspace, one.id, {
      inputs: "first",
      outputs: [1],
      error: "broken",
      status: "error",
    });
    await expectRun(expect, workspace, two.id, {
      inputs: "second",
      outputs: null,
      extra: { metadata: { a: 1 } },
      status: "pending",
    });
    await expectRun(expect, workspace, three.id, {
      name: "a run",
      inputs: { n: 3 },
      outputs: { third: true },
      status: "success",
    });
  });

  const ENCODED: [string, string, (body: Buffer) => Uint8Array][] = [
    ["identity", "identity", (body) => body],
    ["gzip", "gzip", (body) => gzipSync(body)],
    ["gzip of several members", "x-gzip", (body) => members(body, gzipSync)],
    ["zstd", "zstd", (body) => zstdCompressSync(body)],
    ["zstd of several frames", "ZSTD", (body) => members(body, zstdCompressSync)],
  ];

  function members(body: Buffer, encode: (piece: Uint8Array) => Uint8Array): Buffer {
    const third = Math.ceil(body.byteLength / 3);
    return Buffer.concat(
      [0, 1, 2].map((index) => encode(body.subarray(index * third, (index + 1) * third))),
    );
  }

  test.for(ENCODED)("can be sent in %s", async ([, encoding, encode], { workspace, expect }) => {
    const run = runData("encoded");
    const parts = [runPart(run), fieldPart(run, "inputs", JSON.stringify("é😀".repeat(10_000)))];
    const { body, contentType } = multipartBody(parts);
    const encoded = encode(body);
    const headers = {
      "content-type": contentType,
      "content-encoding": encoding,
      "x-pre-compressed-size": String(body.byteLength),
      "x-post-compressed-size": String(encoded.byteLength),
    };
    expect(await workspace.post("/runs/multipart", encoded, headers)).toEqual(ACCEPTED);
    await expectRun(expect, workspace, run.id, { inputs: "é😀".repeat(10_000) });
    // The body is sent in pieces, without a length.
    const other = runData("encoded");
    const second = multipartBody([runPart(other)]);
    const stream = new Blob([new Uint8Array(encode(second.body))]).stream();
    const streamed = { ...headers, "content-type": second.contentType };
    expect(await workspace.post("/runs/multipart", stream, streamed)).toEqual(ACCEPTED);
    const batched = runData("encoded");
    const batch = encode(Buffer.from(JSON.stringify({ post: [batched] })));
    const answer = await workspace.post("/runs/batch", batch, { "content-encoding": encoding });
    expect(answer).toEqual(ACCEPTED);
    expect(await workspace.stored([other, batched])).toEqual([other.id, batched.id]);
  });
});

describe("a run", () => {
  test.for([
    ["2026-08-01T12:00:00.000001Z", "2026-08-01T12:00:00.000001Z"],
    ["2026-08-01T12:00:00.123456", "2026-08-01T12:00:00.123456Z"],
    ["2026-08-01T14:00:00.5+02:00", "2026-08-01T12:00:00.500000Z"],
    ["2026-08-01 12:00:00", "2026-08-01T12:00:00.000000Z"],
    ["2026-08-01T12:00:00.123456789Z", "2026-08-01T12:00:00.123456Z"],
    [START.getTime(), "2026-08-01T12:00:00.000000Z"],
    [START.getTime() + 0.25, "2026-08-01T12:00:00.000250Z"],
  ] as const)("can start at %j", async ([start_time, start], { workspace, expect }) => {
    const run = runData("times", { start: START, start_time, end_time: start_time });
    expect(await workspace.batch({ post: [run] })).toEqual(ACCEPTED);
    await expectRun(expect, workspace, run.id, { start_time: start, end_time: start });
  });

  test("can have ids without dashes, and in upper case", async ({ workspace, expect }) => {
    const parent = runData("ids", { start: START });
    const child = runData("ids", { start: START, parent });
    const upper = child.id.toUpperCase();
    const bare = {
      ...parent,
      id: hex(parent.id),
      trace_id: hex(parent.id),
    };
    const parts = [
      { name: `post.${hex(parent.id)}`, body: JSON.stringify(bare) },
      { name: `post.${hex(parent.id)}.inputs`, body: "1" },
      {
        name: `post.${upper}`,
        body: JSON.stringify({
          ...child,
          id: upper,
          parent_run_id: hex(parent.id),
          dotted_order: child.dotted_order.toUpperCase(),
        }),
      },
    ];
    expect(await workspace.multipart(parts)).toEqual(ACCEPTED);
    await expectRun(expect, workspace, parent.id, { id: parent.id, inputs: 1 });
    await expectRun(expect, workspace, child.id, {
      id: child.id,
      trace_id: parent.id,
      parent_run_id: parent.id,
      parent_run_ids: [parent.id],
      dotted_order: child.dotted_order,
    });
    await expectRun(expect, workspace, hex(child.id), { id: child.id });
  });

  test("keeps the digits and the text of its payloads", async ({ workspace, expect }) => {
    const run = runData("digits");
    const inputs = '{"n":[9007199254740993,18446744073709551615,-9223372036854775808,1.10,1e2]}';
    const text = JSON.stringify({
      text: 'quotes " \\ \u2028 \0 😀 \uD800 </script>',
      __proto__: 1,
    });
    const body = JSON.stringify({ post: [{ ...run, inputs: 1, outputs: 2 }] });
    const exact = body.replace('"inputs":1', `"inputs":${inputs}`).replace("2}]", `${text}}]`);
    expect(await workspace.batch(exact)).toEqual(ACCEPTED);
    const response = await workspace.api("GET", `/runs/${run.id}`);
    const read = await response.text();
    expect(read).toContain(`"inputs":${inputs}`);
    expect(read).toContain(`"outputs":${text}`);
  });

  test("can be updated before it is created, and created again", async ({ workspace, expect }) => {
    const run = runData("upserts", { name: "created", inputs: { a: 1 }, extra: { runtime: "x" } });
    const { name, ...rest } = run;
    const patch = {
      ...rest,
      inputs: undefined,
      end_time: Date.now(),
      outputs: { b: 2 },
      extra: { metadata: { m: 1 } },
      error: null,
    };
    expect(await workspace.batch({ patch: [patch] })).toEqual(ACCEPTED);
    await expectRun(expect, workspace, run.id, { name: "", status: "success", inputs: {} });
    const expected = {
      name,
      status: "success",
      inputs: { a: 1 },
      outputs: { b: 2 },
      extra: { runtime: "x", metadata: { m: 1 } },
    };
    for (const again of [{ post: [run] }, { post: [run], patch: [patch] }, { post: [run, run] }]) {
      expect(await workspace.batch(again)).toEqual(ACCEPTED);
      await expectRun(expect, workspace, run.id, expected);
    }
    const stats = await workspace.client.getRunStats({ projectNames: ["upserts"] });
    expect(stats).toMatchObject({ run_count: 1 });
  });

  test("is changed only by the fields of an update", async ({ workspace, expect }) => {
    const run = runData("changes", {
      inputs: { a: 1 },
      outputs: { b: 1, c: 1 },
      tags: ["x"],
      extra: { metadata: { m: 1, n: { o: 1, p: 1 } }, runtime: { sdk: "s" } },
      events: [{ name: "start", time: START.toISOString() }],
    });
    await workspace.batch({ post: [run] });
    const nulls = { inputs: null, outputs: null, tags: null, extra: null, events: null };
    const same = { id: run.id, trace_id: run.id, dotted_order: run.dotted_order };
    expect(await workspace.batch({ patch: [{ ...same, ...nulls }] })).toEqual(ACCEPTED);
    const { inputs, outputs, tags, extra, events } = run;
    await expectRun(expect, workspace, run.id, { inputs, outputs, tags, extra, events });
    const change = { outputs: { c: 2 }, tags: [], extra: { metadata: { n: { p: 2, q: 2 } } } };
    expect(await workspace.batch({ patch: [{ ...same, ...change }] })).toEqual(ACCEPTED);
    await expectRun(expect, workspace, run.id, {
      inputs,
      outputs: { c: 2 },
      tags: [],
      extra: { metadata: { m: 1, n: { o: 1, p: 2, q: 2 } }, runtime: { sdk: "s" } },
    });
  });

  test("can be sent before its parent, and much deeper", async ({ workspace, expect }) => {
    const chain: RunData[] = [];
    for (let depth = 0; depth < 200; depth += 1) {
      const start = new Date(START.getTime() + depth);
      const parent = chain.at(-1);
      chain.push(runData("deep", { start, ...(parent && { parent }) }));
    }
    const [root] = chain;
    const deepest = chain.at(-1);
    if (root === undefined || deepest === undefined) throw new Error("There are no runs");
    expect(await workspace.batch({ post: [deepest] })).toEqual(ACCEPTED);
    await expectRun(expect, workspace, deepest.id, {
      trace_id: root.id,
      parent_run_ids: chain.slice(0, -1).map(({ id }) => id),
    });
    expect(await workspace.multipart(chain.toReversed().map((run) => runPart(run)))).toEqual(
      ACCEPTED,
    );
    const { child_runs } = await workspace.client.readRun(root.id, { loadChildRuns: true });
    let depth = 0;
    for (let below = child_runs; below?.length === 1; below = below[0]?.child_runs) depth += 1;
    expect(depth).toBe(199);
  });

  test("belongs to the named project, or to the default one", async ({ workspace, expect }) => {
    const { client } = workspace;
    const { session_name: _, ...unnamed } = runData("");
    const named = runData("a new project");
    await workspace.batch({ post: [unnamed, named] });
    const project = await client.readProject({ projectName: "a new project" });
    const fallback = await client.readProject({ projectName: "default" });
    const { session_name: __, ...byId } = runData("", { session_id: project.id });
    await workspace.batch({ post: [byId, { ...runData("", { session_id: hex(project.id) }) }] });
    await expectRun(expect, workspace, unnamed.id, { session_id: fallback.id });
    await expectRun(expect, workspace, named.id, { session_id: project.id });
    await expectRun(expect, workspace, byId.id, { session_id: project.id });
    const stats = await client.getRunStats({ projectIds: [project.id] });
    expect(stats).toMatchObject({ run_count: 3 });
  });

  test("can be in two projects with one id", async ({ workspace, expect }) => {
    const { api, client } = workspace;
    const run = runData("one place", { name: "here" });
    const twin = { ...run, name: "there", session_name: "another place" };
    expect(await workspace.batch({ post: [run, twin] })).toEqual(ACCEPTED);
    for (const { name, session_name } of [run, twin]) {
      const { id } = await client.readProject({ projectName: session_name });
      const listed = await collect(client.listRuns({ projectId: id }));
      expect(listed).toMatchObject([{ id: run.id, name, session_id: id }]);
    }
    const { session_id } = await client.readRun(run.id);
    const known = await api("GET", `/runs/${run.id}?session_id=${session_id}`);
    expect(await known.json()).toMatchObject({ id: run.id, session_id });
    const { id } = await client.readProject({ projectName: "default" });
    expect((await api("GET", `/runs/${run.id}?session_id=${id}`)).status).toBe(404);
  });

  test("can be of any day", async ({ workspace, expect }) => {
    const days = [
      "1970-01-01T00:00:00.000Z",
      "2024-02-29T23:59:59.999Z",
      "2255-01-01T00:00:00.000Z",
    ];
    const runs = days.map((day) => runData("days", { start: new Date(day) }));
    expect(await workspace.batch({ post: runs })).toEqual(ACCEPTED);
    expect(await workspace.stored(runs)).toEqual(runs.map(({ id }) => id));
  });
});

describe("single runs", () => {
  test("need neither a trace nor dashes in their ids", async ({ workspace, expect }) => {
    const { api } = workspace;
    const [parent, child] = [crypto.randomUUID(), crypto.randomUUID()];
    const utcNow = () => new Date().toISOString().slice(0, -1);
    const post = async (id: string, run_type: string, more: object = {}) => {
      const run = { id: hex(id), name: run_type, run_type, inputs: { text: "x" }, ...more };
      return (await api("POST", "/runs", { ...run, start_time: utcNow() })).status;
    };
    const patch = async (id: string, outputs: object) => {
      const response = await api("PATCH", `/runs/${hex(id)}`, { outputs, end_time: utcNow() });
      return response.status;
    };
    expect(await post(parent, "chain", { session_name: "by hand" })).toBe(202);
    const below = { parent_run_id: hex(parent), session_name: "by hand" };
    expect(await post(child, "llm", below)).toBe(202);
    expect(await patch(child, { a: 1 })).toBe(202);
    expect(await patch(parent, { b: 2 })).toBe(202);
    await expectRun(expect, workspace, parent, {
      name: "chain",
      status: "success",
      outputs: { b: 2 },
      trace_id: parent,
    });
    await expectRun(expect, workspace, child, {
      name: "llm",
      status: "success",
      outputs: { a: 1 },
      trace_id: parent,
      parent_run_id: parent,
      parent_run_ids: [parent],
    });
    const tree = await workspace.client.readRun(parent, { loadChildRuns: true });
    expect(tree.child_runs?.map(({ id }) => id)).toEqual([child]);
    expect(tree.dotted_order).toBe(segment(new Date(String(tree.start_time)), parent));
  });
});
