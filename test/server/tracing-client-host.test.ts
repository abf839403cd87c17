import { RunTree } from "langsmith";
import { describe } from "vitest";
import { recordedFetch } from "../support/recorded-fetch.ts";
import { testWithServer } from "../support/server.ts";
import { multipartBody } from "../support/multipart.ts";
import { collect, tracingWorkspace } from "../support/tracing.ts";
import { runData } from "../support/trace-data.ts";
import { runPart } from "../support/ingest.ts";

const test = testWithServer({ API_HOST: "127.0.0.1" });

describe("the tracing API on a separate host", () => {
  test("serves the official client without a prefix", async ({ server, expect }) => {
    const recorded = recordedFetch();
    const { client } = await tracingWorkspace(server, "bare", {
      apiUrl: server.url,
      fetchImplementation: recorded.fetch,
    });
    const root = new RunTree({
      name: "bare",
      inputs: { a: 1 },
      attachments: { note: ["text/plain", new TextEncoder().encode("text")] },
      metadata: { thread_id: "t" },
      client,
      project_name: "bare",
    });
    await root.postRun();
    await root.end({ b: 2 });
    await root.patchRun();
    await client.awaitPendingTraceBatches();

    const run = await client.readRun(root.id, { loadChildRuns: true });
    expect(run).toMatchObject({ name: "bare", inputs: { a: 1 }, outputs: { b: 2 } });
    const { s3_urls } = run as { s3_urls?: Record<string, { presigned_url: string }> };
    const note = await fetch(s3_urls?.["attachment.note"]?.presigned_url ?? "");
    expect(await note.text()).toBe("text");

    const listed = await collect(client.listRuns({ projectName: "bare" }));
    expect(listed.map(({ id }) => id)).toEqual([root.id]);
    expect(await client.getRunStats({ projectNames: ["bare"] })).toMatchObject({ run_count: 1 });
    const threads = client.listGroupRuns({ projectName: "bare", groupBy: "conversation" });
    expect(await collect(threads)).toHaveLength(1);

    const { id } = await client.createFeedback(root.id, "quality", { score: 1 });
    expect(await client.readFeedback(id)).toMatchObject({ run_id: root.id });
    const token = await client.createPresignedFeedbackToken(root.id, "quality");
    const { pathname } = new URL(token.url);
    expect((await server.fetch(`${pathname}?score=0`)).status).toBe(200);
    expect((await client.readRun(root.id)).feedback_stats).toMatchObject({ quality: { n: 2 } });

    const shared = await client.shareRun(root.id);
    const shareToken = shared.split("/").at(-2) ?? "";
    expect((await client.listSharedRuns(shareToken)).map(({ id }) => id)).toEqual([root.id]);

    const project = await client.readProject({ projectName: "bare" });
    const found = await collect(
      client.runs.query({ project_ids: [project.id], selects: ["NAME", "STATUS"] }),
    );
    expect(found).toMatchObject([{ name: "bare", status: "SUCCESS" }]);
    const paths = new Set(recorded.sent.map(({ method, path }) => `${method} ${path}`));
    expect(paths).toContain("GET /info");
    expect(paths).toContain("POST /runs/multipart");
    expect(paths).toContain("POST /runs/query");
    expect(paths).toContain("POST /api/v2/runs/query");
  });

  test.for(["", "/api/v1"])("ingests runs below %j", async (prefix, { server, expect }) => {
    const { apiKey, client } = await tracingWorkspace(server, "routes", { apiUrl: server.url });
    const runs = [1, 2, 3].map(() => runData("routes"));
    const [single, batched, sent] = runs;
    if (single === undefined || batched === undefined || sent === undefined) return;
    const ask = async (method: string, path: string, body: string | Uint8Array, type: string) => {
      const headers = { "x-api-key": apiKey, "content-type": type };
      const response = await server.fetch(`${prefix}${path}`, {
        method,
        headers,
        body: new Uint8Array(Buffer.from(body)),
      });
      return response.status;
    };
    const json = "application/json";
    const { body, contentType } = multipartBody([runPart(sent)]);
    expect(await ask("POST", "/runs", JSON.stringify(single), json)).toBe(202);
    expect(await ask("PATCH", `/runs/${single.id}`, '{"error":"late"}', json)).toBe(202);
    expect(await ask("POST", "/runs/batch", JSON.stringify({ post: [batched] }), json)).toBe(202);
    expect(await ask("POST", "/runs/multipart", body, contentType)).toBe(202);
    const stored = await collect(client.listRuns({ projectName: "routes", order: "asc" }));
    expect(new Set(stored.map(({ id }) => id))).toEqual(new Set(runs.map(({ id }) => id)));
    const query = JSON.stringify({ project_ids: [stored[0]?.session_id] });
    const v2 = await server.fetch("/v2/runs/query", {
      method: "POST",
      headers: { "x-api-key": apiKey },
      body: query,
    });
    expect(v2.status).toBe(200);
  });

  test("is on no other host, and has no other routes", async ({ server, expect }) => {
    const { port } = new URL(server.url);
    const { apiKey } = await tracingWorkspace(server, "hosts");
    const headers = { "x-api-key": apiKey };
    const statuses = async (base: string) =>
      Promise.all(
        ["/info", "/api/v1/info", "/ok", "/threads", "/assistants/search"].map(
          async (path) => (await fetch(new URL(path, base), { headers })).status,
        ),
      );
    expect(await statuses(server.url)).toEqual([200, 200, 200, 404, 404]);
    expect(await statuses(`http://localhost:${port}`)).toEqual([404, 404, 200, 404, 404]);
  });
});
