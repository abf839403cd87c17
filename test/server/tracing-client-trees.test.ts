import { type Client, type Run, RunTree } from "langsmith";
import { getCurrentRunTree, traceable, withRunTree } from "langsmith/traceable";
import { afterEach, describe, vi } from "vitest";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracesOf, tracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer();

afterEach(() => vi.unstubAllEnvs());

type Shape = [name: string, ...below: Shape[]];

/** Returns the names of a tree. */
function shapeOf({ name, child_runs = [] }: Run): Shape {
  return [name, ...child_runs.map(shapeOf)];
}

async function onlyTrace(client: Client, projectName: string): Promise<Run> {
  const [root, ...others] = await tracesOf(client, projectName);
  if (root === undefined || others.length > 0) throw new Error(`${others.length + 1} traces`);
  return root;
}

function streamOf<T>(items: readonly T[]): ReadableStream<T> {
  return new ReadableStream({
    start: (controller) => {
      for (const item of items) controller.enqueue(item);
      controller.close();
    },
  });
}

const traced = (client: Client, project_name: string) => ({
  client,
  project_name,
  tracingEnabled: true,
});

describe("functions of the official client", () => {
  test("make a tree if they call each other, some concurrently", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "nested");
    const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const leaf = traceable(async (n: number) => sleep(3 * (4 - n)), {
      name: "leaf",
      run_type: "tool",
    });
    const branch = traceable(
      async (n: number) => {
        await Promise.all([leaf(n), leaf(n + 1)]);
        return n;
      },
      { name: "branch" },
    );
    const root = traceable(
      async (..._numbers: number[]) => Promise.all([branch(1), branch(2), branch(3)]),
      { name: "root", ...traced(client, "nested"), tags: ["x"], metadata: { user: "u" } },
    );
    await root(1, 2);
    const tree = await onlyTrace(client, "nested");
    const leaves: Shape[] = [["leaf"], ["leaf"]];
    expect(shapeOf(tree)).toEqual([
      "root",
      ["branch", ...leaves],
      ["branch", ...leaves],
      ["branch", ...leaves],
    ]);
    expect(tree).toMatchObject({
      inputs: { args: [1, 2] },
      outputs: { outputs: [1, 2, 3] },
      tags: ["x"],
    });
    const inputs = tree.child_runs?.map((run) => run.child_runs?.map(({ inputs }) => inputs));
    const pair = (n: number) => [{ input: n }, { input: n + 1 }];
    expect(inputs).toEqual([pair(1), pair(2), pair(3)]);
    const runs = await collect(client.listRuns({ projectName: "nested" }));
    expect(runs.every(({ trace_id, status }) => trace_id === tree.id && status === "success")).toBe(
      true,
    );
    const metadata = runs.map(
      ({ extra }) => Reflect.get(Object(extra), "metadata") as { user: string },
    );
    expect(metadata.map(({ user }) => user)).toEqual(Array(10).fill("u"));
  });

  test("record their errors", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "failing");
    const inner = traceable(
      () => {
        throw new TypeError("no \0 \u2028 tea");
      },
      { name: "inner" },
    );
    const outer = traceable(async () => inner(), { name: "outer", ...traced(client, "failing") });
    await expect(outer()).rejects.toThrow("tea");
    const tree = await onlyTrace(client, "failing");
    const error = "TypeError: no \0 \u2028 tea";
    const expected = { status: "error", error, outputs: null };
    expect(tree).toMatchObject({
      name: "outer",
      ...expected,
      child_runs: [{ name: "inner", ...expected }],
    });
    const failed = await collect(client.listRuns({ projectName: "failing", error: true }));
    expect(failed).toHaveLength(2);
    expect(await collect(client.listRuns({ projectName: "failing", error: false }))).toEqual([]);
  });

  test("record generated values, and the time of the first one", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "generators");
    const tokens = ["a", "b", "c"];
    const config = traced(client, "generators");
    const counted = traceable(
      function* () {
        yield* tokens;
      },
      { name: "generator", ...config },
    );
    const model = traceable(
      async function* (_prompt: string) {
        await Promise.resolve();
        yield* tokens;
      },
      { name: "model", run_type: "llm", aggregator: (all: string[]) => all.join(""), ...config },
    );
    const broken = traceable(
      async function* () {
        yield "a";
        await Promise.reject(new Error("cut"));
      },
      { name: "broken", run_type: "llm", ...config },
    );
    const left = traceable(
      async function* () {
        await Promise.resolve();
        yield* tokens;
      },
      { name: "left", run_type: "llm", ...config },
    );
    const streamed = traceable(async () => streamOf(tokens), {
      name: "streamed",
      run_type: "llm",
      ...config,
    });
    expect([...(await counted())]).toEqual(tokens);
    expect(await collect(model("p"))).toEqual(tokens);
    await expect(collect(broken())).rejects.toThrow("cut");
    for await (const token of left()) {
      expect(token).toBe("a");
      break;
    }
    expect(await collect(await streamed())).toEqual(tokens);

    const runs = await tracesOf(client, "generators");
    const found = runs.map((run) => [
      run.name,
      [
        run.error,
        run.outputs,
        run.events?.map((event) => String(event["name"])),
        Reflect.get(run, "first_token_time") !== null,
      ],
    ]);
    const three = Array(3).fill("new_token");
    expect(Object.fromEntries(found)).toEqual({
      generator: [null, { outputs: tokens }, [], false],
      model: [null, { outputs: "abc" }, three, true],
      broken: ["Error: cut", { outputs: ["a"] }, ["new_token"], true],
      left: ["Cancelled", { outputs: ["a"] }, ["new_token"], true],
      streamed: [null, { outputs: tokens }, three, true],
    });
    const streaming = runs.find(({ name }) => name === "model");
    const [first] = streaming?.events ?? [];
    expect(Object.keys(first ?? {}).toSorted()).toEqual(["name", "time"]);
    const { first_token_time } = Object(streaming) as { first_token_time?: string };
    expect(new Date(String(first_token_time)).toISOString()).toBe(first?.["time"]);
    const stats = await client.getRunStats({ projectNames: ["generators"], runType: "llm" });
    expect(stats).toMatchObject({ run_count: 4, error_rate: 0.5, streaming_rate: 1 });
  });

  test("move attachments out of their inputs", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "attached");
    const look = traceable((_image: Uint8Array, text: string) => text.length, {
      name: "look",
      extractAttachments: (image: Uint8Array, text: string) => [
        { image: ["image/png", image], "with.dot": ["x/y", image] },
        { text },
      ],
      ...traced(client, "attached"),
    });
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    expect(await look(new Uint8Array([1, 2, 3]), "four")).toBe(4);
    const run = await onlyTrace(client, "attached");
    warn.mockRestore();
    expect([run.inputs, run.outputs]).toEqual([{ text: "four" }, { outputs: 4 }]);
    const urls = Reflect.get(run, "s3_urls") as Record<string, { presigned_url: string }>;
    expect(Object.keys(urls)).toEqual(["attachment.image"]);
    const image = await fetch(urls["attachment.image"]?.presigned_url ?? "");
    expect([...new Uint8Array(await image.arrayBuffer())]).toEqual([1, 2, 3]);
  });

  test("record values without a JSON form as the client writes them", async ({
    server,
    expect,
  }) => {
    const { client } = await tracingWorkspace(server, "values");
    const circular: Record<string, unknown> = { name: "loop" };
    circular["self"] = circular;
    const identity = (name: string) =>
      traceable((value: unknown) => value, { name, ...traced(client, "values") });
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    await identity("circular")({ circular });
    const fn = identity("odd");
    await fn({ big: 12345678901234567890n, when: new Date(0), not: Number.NaN, fn });
    const map = new Map([["a", 1]]);
    await identity("rich")({ map, set: new Set([1]), none: undefined, error: new Error("e") });
    vi.restoreAllMocks();
    const runs = await tracesOf(client, "values");
    for (const { inputs, outputs } of runs) expect(outputs).toEqual(inputs);
    expect(Object.fromEntries(runs.map(({ name, inputs }) => [name, inputs]))).toEqual({
      circular: { circular: { name: "loop", self: { result: "[Circular]" } } },
      odd: { big: "12345678901234567890", when: "1970-01-01T00:00:00.000Z", not: null },
      rich: { map: { a: 1 }, set: [1], error: { name: "Error", message: "e" } },
    });
  });
});

describe("a trace through several processes", () => {
  test("is one tree, whichever process sends first", async ({ server, expect }) => {
    const { client, apiKey } = await tracingWorkspace(server, "distributed");
    const { client: remote } = await tracingWorkspace(server, "remote", { apiKey });
    const parent = new RunTree({
      name: "caller",
      inputs: {},
      tags: ["t,1", "t2"],
      metadata: { env: "prod", "odd key": "ü" },
      client,
      project_name: "distributed",
    });
    const headers = new Headers();
    parent.toHeaders(headers);
    expect(headers.get("langsmith-trace")).toBe(parent.dotted_order);

    const received = RunTree.fromHeaders(headers, { client: remote, tracingEnabled: true });
    if (received === undefined) throw new Error("There is no parent");
    const handler = traceable((x: number) => traceable((y: number) => y, { name: "deeper" })(x), {
      name: "handler",
    });
    await withRunTree(received, () => handler(1));
    await remote.awaitPendingTraceBatches();
    const early = await collect(remote.listRuns({ projectName: "distributed" }));
    expect(early.map(({ name }) => name).toSorted()).toEqual(["deeper", "handler"]);
    expect(early.map(({ parent_run_ids }) => parent_run_ids?.[0])).toEqual([parent.id, parent.id]);

    await parent.postRun();
    await parent.end({ ok: true });
    await parent.patchRun();
    const tree = await onlyTrace(client, "distributed");
    expect(shapeOf(tree)).toEqual(["caller", ["handler", ["deeper"]]]);
    expect(tree).toMatchObject({ outputs: { ok: true }, tags: ["t,1", "t2"] });
    const [child] = tree.child_runs ?? [];
    expect(child?.extra?.["metadata"]).toMatchObject({ env: "prod", "odd key": "ü" });
  });

  test("continues below the run of a dotted order", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "dotted");
    const root = traceable(
      async () => {
        const headers = getCurrentRunTree().toHeaders();
        const inner = RunTree.fromHeaders(headers, { client });
        const child = inner?.createChild({ name: "child", inputs: { n: 1 } });
        await child?.postRun();
        await child?.end({ n: 2 });
        await child?.patchRun();
      },
      { name: "root", ...traced(client, "dotted") },
    );
    await root();
    const tree = await onlyTrace(client, "dotted");
    expect(shapeOf(tree)).toEqual(["root", ["child"]]);
    expect(tree.child_runs?.[0]).toMatchObject({ inputs: { n: 1 }, outputs: { n: 2 } });
  });
});

describe("replicas of a trace", () => {
  async function sendPair(
    config: Partial<ConstructorParameters<typeof RunTree>[0]>,
    client: Client,
  ) {
    const root = new RunTree({ name: "root", inputs: { a: 1 }, client, ...config });
    await root.postRun();
    const child = root.createChild({ name: "child", run_type: "tool", inputs: { b: 1 } });
    await child.postRun();
    await child.end({ b: 2 });
    await child.patchRun();
    await root.end({ a: 2 });
    await root.patchRun();
    await client.awaitPendingTraceBatches();
    return root;
  }

  const SHAPE: Shape = ["root", ["child"]];

  test("are in every named project", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "replicas");
    const replicas = [
      { projectName: "first" },
      { projectName: "second", updates: { tags: ["copy"] } },
    ];
    const root = await sendPair({ project_name: "first", replicas }, client);
    const [first, second] = [await onlyTrace(client, "first"), await onlyTrace(client, "second")];
    expect(shapeOf(first)).toEqual(SHAPE);
    expect(shapeOf(second)).toEqual(SHAPE);
    expect(first).toMatchObject({ id: root.id, outputs: { a: 2 }, tags: [] });
    expect(second).toMatchObject({ outputs: { a: 2 }, tags: ["copy"] });
    expect(second.id).not.toBe(root.id);
    expect(second.child_runs?.[0]?.parent_run_id).toBe(second.id);
  });

  test("keep the ids of the run in the primary project, and have others elsewhere", async ({
    server,
    expect,
  }) => {
    const { client } = await tracingWorkspace(server, "primary", { autoBatchTracing: false });
    const replicas = [{ projectName: "elsewhere", primary: true }, { projectName: "here" }];
    const root = await sendPair({ project_name: "here", replicas }, client);
    const elsewhere = await onlyTrace(client, "elsewhere");
    const here = await onlyTrace(client, "here");
    expect(elsewhere.id).toBe(root.id);
    expect(here.id).not.toBe(root.id);
    expect([shapeOf(elsewhere), shapeOf(here)]).toEqual([SHAPE, SHAPE]);
    for (const { session_id, outputs } of [elsewhere, here]) {
      const { id } = await client.readProject({ projectId: String(session_id) });
      expect([id, outputs]).toEqual([session_id, { a: 2 }]);
    }
  });

  test("can be in other workspaces", async ({ server, expect }) => {
    const mine = await tracingWorkspace(server, "own");
    const other = await tracingWorkspace(server, "other");
    const apiUrl = `${server.url}/api/v1`;
    const replicas = [
      { projectName: "own" },
      { projectName: "copies", apiKey: other.apiKey, apiUrl, workspaceId: other.id },
    ];
    const root = await sendPair({ project_name: "own", replicas }, mine.client);
    expect(shapeOf(await onlyTrace(mine.client, "own"))).toEqual(SHAPE);
    expect(await mine.client.hasProject({ projectName: "copies" })).toBe(false);
    const copy = await onlyTrace(other.client, "copies");
    expect(shapeOf(copy)).toEqual(SHAPE);
    await expect(other.client.readRun(root.id)).rejects.toThrow("not found");
  });

  test("can be set by the environment", async ({ server, expect }) => {
    const mine = await tracingWorkspace(server, "endpoints");
    const other = await tracingWorkspace(server, "other endpoint");
    const api_url = `${server.url}/api/v1`;
    const endpoints = [mine, other].map(({ apiKey }) => ({ api_url, api_key: apiKey }));
    vi.stubEnv("LANGSMITH_RUNS_ENDPOINTS", JSON.stringify(endpoints));
    await sendPair({ project_name: "both" }, mine.client);
    for (const { client } of [mine, other]) {
      expect(shapeOf(await onlyTrace(client, "both"))).toEqual(SHAPE);
    }
  });

  test("can begin where a process took over", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "rerooted");
    const parent = new RunTree({ name: "caller", inputs: {}, client, project_name: "callers" });
    await parent.postRun();
    const received = RunTree.fromHeaders(parent.toHeaders(), {
      client,
      replicas: [{ projectName: "callers" }, { projectName: "handlers", reroot: true }],
    });
    if (received === undefined) throw new Error("There is no parent");
    received.replicas = [{ projectName: "callers" }, { projectName: "handlers", reroot: true }];
    const child = new RunTree({
      name: "handler",
      inputs: {},
      client,
      project_name: "callers",
      parent_run: received,
      replicas: received.replicas,
      distributedParentId: received.id,
    });
    await child.postRun();
    const deeper = child.createChild({ name: "deeper", inputs: {} });
    await deeper.postRun();
    await client.awaitPendingTraceBatches();
    expect(shapeOf(await onlyTrace(client, "callers"))).toEqual([
      "caller",
      ["handler", ["deeper"]],
    ]);
    expect(shapeOf(await onlyTrace(client, "handlers"))).toEqual(["handler", ["deeper"]]);
  });
});
