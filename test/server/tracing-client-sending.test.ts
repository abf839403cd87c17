import { type Client, RunTree } from "langsmith";
import { afterEach, describe, type ExpectStatic, vi } from "vitest";
import { recordedFetch, type RecordedFetch } from "../support/recorded-fetch.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer();

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const INFO = "/api/v1/info";
const MULTIPART = "/api/v1/runs/multipart";
const BATCH = "/api/v1/runs/batch";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Sends a root with a model that works and a tool that fails. It waits between posts and patches. */
async function sendTrace(client: Client, project_name: string): Promise<RunTree> {
  const root = new RunTree({
    name: "agent",
    run_type: "chain",
    inputs: { question: "tea?" },
    tags: ["beta", "größe"],
    metadata: { thread_id: "t1", nested: { a: [1, 2] } },
    attachments: { photo: ["image/png", bytes("photo")] },
    serialized: { lc: 1 },
    client,
    project_name,
  });
  await root.postRun();
  const model = root.createChild({
    name: "model",
    run_type: "llm",
    inputs: { prompt: "é😀".repeat(1000) },
    metadata: { ls_model_name: "none" },
    attachments: { notes: { mimeType: "text/plain", data: bytes("notes") } },
  });
  await model.postRun();
  model.addEvent({ name: "new_token", time: "2026-08-01T12:00:00.5Z", kwargs: { token: "a" } });
  await model.end({ text: "yes", usage_metadata: { input_tokens: 2, output_tokens: 3 } });
  await model.patchRun();
  const tool = root.createChild({ name: "tool", run_type: "tool", inputs: {} });
  await tool.postRun();
  await client.flush();
  await tool.end(undefined, "it broke");
  await tool.patchRun();
  await root.end({ answer: "yes" });
  await root.patchRun();
  await client.flush();
  await client.awaitPendingTraceBatches();
  return root;
}

async function expectTrace(
  expect: ExpectStatic,
  client: Client,
  root: RunTree,
  attachments: { [run: string]: string | null },
): Promise<void> {
  const tree = await client.readRun(root.id, { loadChildRuns: true });
  const { thread_id, nested } = (tree.extra?.["metadata"] ?? {}) as Record<string, unknown>;
  expect([thread_id, nested]).toEqual(["t1", { a: [1, 2] }]);
  expect(tree).toMatchObject({
    name: "agent",
    status: "success",
    inputs: { question: "tea?" },
    outputs: { answer: "yes" },
    tags: ["beta", "größe"],
    error: null,
    dotted_order: root.dotted_order,
    total_tokens: 5,
    child_runs: [
      {
        name: "model",
        run_type: "llm",
        status: "success",
        inputs: { prompt: "é😀".repeat(1000) },
        outputs: { text: "yes", usage_metadata: { input_tokens: 2, output_tokens: 3 } },
        events: [{ name: "new_token", time: "2026-08-01T12:00:00.5Z" }],
        first_token_time: "2026-08-01T12:00:00.500000Z",
        prompt_tokens: 2,
        completion_tokens: 3,
        parent_run_id: root.id,
      },
      { name: "tool", run_type: "tool", status: "error", error: "it broke", outputs: null },
    ],
  });
  const [model] = tree.child_runs ?? [];
  const texts = [
    await attachmentOf(client, tree.id, "photo"),
    await attachmentOf(client, model?.id, "notes"),
  ];
  expect(texts).toEqual([attachments["agent"], attachments["model"]]);
}

/** Returns the text of an attachment, or null if the run has none with that name. */
async function attachmentOf(client: Client, runId = "", name: string): Promise<string | null> {
  const { s3_urls } = (await client.readRun(runId)) as {
    s3_urls?: Record<string, { presigned_url: string }> | null;
  };
  const url = s3_urls?.[`attachment.${name}`]?.presigned_url;
  return url === undefined ? null : (await fetch(url)).text();
}

const ALL_ATTACHMENTS = { agent: "photo", model: "notes" };
const NO_ATTACHMENTS = { agent: null, model: null };

/** Returns the requests except for `/info` and those that read. */
function ingestRequests({ sent }: RecordedFetch) {
  return sent.filter(({ method, path }) => path !== INFO && method !== "GET");
}

describe("the official client sends", () => {
  test("multipart bodies, compressed", async ({ server, expect }) => {
    const recorded = recordedFetch();
    const options = { fetchImplementation: recorded.fetch };
    const { client } = await tracingWorkspace(server, "streamed", options);
    const root = await sendTrace(client, "streamed");
    await expectTrace(expect, client, root, ALL_ATTACHMENTS);
    const request = { method: "POST", path: MULTIPART, encoding: "zstd", isStreamed: false };
    expect(ingestRequests(recorded).slice(0, 2)).toEqual([request, request]);
  });

  test("uncompressed multipart bodies", async ({ server, expect }) => {
    vi.stubEnv("LANGSMITH_DISABLE_RUN_COMPRESSION", "true");
    const recorded = recordedFetch();
    const options = { fetchImplementation: recorded.fetch };
    const { client } = await tracingWorkspace(server, "plain", options);
    const root = await sendTrace(client, "plain");
    await expectTrace(expect, client, root, ALL_ATTACHMENTS);
    const request = { method: "POST", path: MULTIPART, encoding: null, isStreamed: true };
    expect(ingestRequests(recorded).slice(0, 2)).toEqual([request, request]);
  });

  test("multipart bodies in one piece", async ({ server, expect }) => {
    vi.stubEnv("LANGSMITH_DISABLE_RUN_COMPRESSION", "true");
    vi.stubEnv("LANGSMITH_DISABLE_MULTIPART_STREAMING", "true");
    const recorded = recordedFetch();
    const options = { fetchImplementation: recorded.fetch };
    const { client } = await tracingWorkspace(server, "whole", options);
    const root = await sendTrace(client, "whole");
    await expectTrace(expect, client, root, ALL_ATTACHMENTS);
    const request = { method: "POST", path: MULTIPART, encoding: null, isStreamed: false };
    expect(ingestRequests(recorded).slice(0, 2)).toEqual([request, request]);
  });

  test("batches, if a proxy knows no other route", async ({ server, expect }) => {
    // The client does not fall back to another route for compressed bodies.
    vi.stubEnv("LANGSMITH_DISABLE_RUN_COMPRESSION", "true");
    const recorded = recordedFetch(async (path, ask) =>
      path === MULTIPART ? new Response(null, { status: 404 }) : ask(),
    );
    const options = { fetchImplementation: recorded.fetch };
    const { client } = await tracingWorkspace(server, "batches", options);
    const root = await sendTrace(client, "batches");
    await expectTrace(expect, client, root, NO_ATTACHMENTS);
    const paths = ingestRequests(recorded).map(({ path }) => path);
    expect(paths.slice(0, 3)).toEqual([MULTIPART, BATCH, BATCH]);
  });

  test("batches, if the server requests them", async ({ server, expect }) => {
    const recorded = recordedFetch(async (path, ask) => {
      const response = await ask();
      if (path !== INFO) return response;
      const info = (await response.json()) as { batch_ingest_config: object };
      const batch_ingest_config = { ...info.batch_ingest_config, use_multipart_endpoint: false };
      return Response.json({ ...info, batch_ingest_config });
    });
    const options = { fetchImplementation: recorded.fetch };
    const { client } = await tracingWorkspace(server, "asked", options);
    const root = await sendTrace(client, "asked");
    await expectTrace(expect, client, root, NO_ATTACHMENTS);
    expect(
      ingestRequests(recorded)
        .map(({ path }) => path)
        .slice(0, 2),
    ).toEqual([BATCH, BATCH]);
  });

  test("runs one by one", async ({ server, expect }) => {
    const recorded = recordedFetch();
    const options = { fetchImplementation: recorded.fetch, autoBatchTracing: false };
    const { client } = await tracingWorkspace(server, "singles", options);
    const root = await sendTrace(client, "singles");
    await expectTrace(expect, client, root, NO_ATTACHMENTS);
    const requests = ingestRequests(recorded).map(({ method, path }) => {
      return `${method} ${path.replace(/[0-9a-f-]{36}$/, "<id>")}`;
    });
    const [post, patch] = ["POST /api/v1/runs", "PATCH /api/v1/runs/<id>"];
    expect(requests.slice(0, 6)).toEqual([post, post, patch, post, patch, patch]);
  });

  test("only on demand", async ({ server, expect }) => {
    const options = { manualFlushMode: true };
    const { client } = await tracingWorkspace(server, "manual", options);
    const root = new RunTree({ name: "late", inputs: {}, client, project_name: "manual" });
    await root.postRun();
    await root.end({ done: true });
    await root.patchRun();
    await client.awaitPendingTraceBatches();
    expect(await client.hasProject({ projectName: "manual" })).toBe(false);
    await client.flush();
    expect(await client.readRun(root.id)).toMatchObject({ outputs: { done: true } });
  });

  test("several requests for many runs, and for large ones", async ({ server, expect }) => {
    const recorded = recordedFetch();
    const options = { fetchImplementation: recorded.fetch };
    const { client } = await tracingWorkspace(server, "many", options);
    const text = "0123456789".repeat(300_000);
    for (let index = 0; index < 250; index += 1) {
      const inputs = { index, text: index % 25 === 0 ? text : "" };
      const run = new RunTree({ name: "one", inputs, client, project_name: "many" });
      await run.end({ index });
      await run.postRun();
    }
    await client.awaitPendingTraceBatches();
    expect(ingestRequests(recorded).length).toBeGreaterThan(2);
    const runs = await collect(client.listRuns({ projectName: "many" }));
    const indexes = runs.map(({ inputs }) => Number(inputs["index"]));
    expect(indexes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 250 }, (_, i) => i));
    const lengths = runs.map(({ inputs }) => String(inputs["text"]).length);
    expect(lengths.filter((length) => length === text.length)).toHaveLength(10);
  });

  test("the same again when an answer is lost, without any effect", async ({ server, expect }) => {
    let lost = 0;
    const recorded = recordedFetch(async (path, ask) => {
      const response = await ask();
      if (path !== MULTIPART || lost === 2) return response;
      lost += 1;
      expect(response.status).toBe(202);
      return new Response("bad gateway", { status: 502 });
    });
    const { client } = await tracingWorkspace(server, "lost", {
      fetchImplementation: recorded.fetch,
      callerOptions: { maxRetries: 3 },
    });
    const root = await sendTrace(client, "lost");
    await expectTrace(expect, client, root, ALL_ATTACHMENTS);
    expect(lost).toBe(2);
    expect(await client.getRunStats({ projectNames: ["lost"] })).toMatchObject({ run_count: 3 });
  });

  test("a bad run with good ones, and receives the error", async ({ server, expect }) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { client } = await tracingWorkspace(server, "bad");
    const runs = ["good", "bad", "good"].map(
      (name) =>
        new RunTree({
          name,
          run_type: name === "bad" ? "agent" : "chain",
          inputs: {},
          client,
          project_name: "bad",
        }),
    );
    for (const run of runs) await run.postRun();
    await client.awaitPendingTraceBatches();
    const stored = await collect(client.listRuns({ projectName: "bad" }));
    expect(stored.map(({ name }) => name)).toEqual(["good", "good"]);
    const text = warn.mock.calls.map(([message]) => String(message)).join("\n");
    expect(text).toContain(`post.${runs[1]?.id}.run_type: should be one of tool, chain, llm`);
    expect(text).toContain("Received status [422]");
  });

  test("to the workspace that it names", async ({ server, expect }) => {
    const { client, apiKey, id } = await tracingWorkspace(server, "tenant");
    const { client: named } = await tracingWorkspace(server, "ignored", {
      apiKey,
      workspaceId: id,
    });
    const root = new RunTree({ name: "named", inputs: {}, client: named, project_name: "tenant" });
    await root.postRun();
    await named.awaitPendingTraceBatches();
    expect(await client.readRun(root.id)).toMatchObject({ name: "named" });
    const { client: other } = await tracingWorkspace(server, "other", {
      apiKey,
      workspaceId: crypto.randomUUID(),
    });
    await expect(other.readRun(root.id)).rejects.toThrow(
      "X-Tenant-Id is not the workspace of this API key",
    );
  });
});
