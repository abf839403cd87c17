import { describe } from "vitest";
import { ACCEPTED, expectRun, ingestWorkspace } from "../support/ingest.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { runData } from "../support/trace-data.ts";

const test = testWithSharedServer().extend("workspace", { scope: "file" }, ({ server }) =>
  ingestWorkspace(server, "access"),
);

describe("an ingest request", () => {
  const ROUTES = [
    ["POST", "/runs"],
    ["PATCH", `/runs/${crypto.randomUUID()}`],
    ["POST", "/runs/batch"],
    ["POST", "/runs/multipart"],
  ] as const;

  test.for(ROUTES)(
    "%s %s needs the workspace's key",
    async ([method, path], { server, workspace, expect }) => {
      const { apiKey, id } = workspace;
      const ask = async (headers: Record<string, string>) => {
        const response = await server.fetch(`/api/v1${path}`, { method, headers, body: "{" });
        const { detail } = (await response.json()) as { detail: unknown };
        return [response.status, detail];
      };
      const missing = [401, "Missing API key: send it as X-Api-Key"];
      const invalid = [401, "Invalid API key"];
      const other = [403, "X-Tenant-Id is not the workspace of this API key"];
      expect(await ask({})).toEqual(missing);
      expect(await ask({ "x-api-key": "" })).toEqual(missing);
      expect(await ask({ "x-api-key": `${apiKey}x` })).toEqual(invalid);
      expect(await ask({ authorization: "Bearer nobody" })).toEqual(invalid);
      expect(await ask({ "x-api-key": apiKey, "x-tenant-id": crypto.randomUUID() })).toEqual(other);
      for (const headers of [
        { "x-api-key": apiKey, "x-tenant-id": id.toUpperCase() },
        { authorization: `Bearer ${apiKey}` },
      ]) {
        const [status] = await ask(headers);
        expect([415, 422]).toContain(status);
      }
    },
  );

  test("needs no key for the server's capabilities", async ({ server, expect }) => {
    const response = await server.fetch("/api/v1/info");
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        license_expiration_time: null,
        batch_ingest_config: {
          use_multipart_endpoint: true,
          scale_up_qsize_trigger: 1000,
          scale_up_nthreads_limit: 16,
          scale_down_nempty_trigger: 4,
          size_limit: 100,
          size_limit_bytes: 20 * 1024 * 1024,
        },
        instance_flags: {
          gzip_body_enabled: true,
          zstd_compression_enabled: true,
          dataset_examples_multipart_enabled: false,
        },
      },
    ]);
  });

  test("of one workspace does not affect the runs of another", async ({ server, expect }) => {
    const [mine, theirs] = [
      await ingestWorkspace(server, "mine"),
      await ingestWorkspace(server, "theirs"),
    ];
    const run = runData("private", { inputs: { secret: 1 } });
    expect(await mine.batch({ post: [run] })).toEqual(ACCEPTED);
    expect(await theirs.stored([run])).toEqual([]);
    expect((await theirs.api("PATCH", `/runs/${run.id}`, { error: "stolen" })).status).toBe(404);
    const copy = { ...run, inputs: {}, name: "theirs" };
    expect(await theirs.batch({ post: [copy], patch: [{ ...copy, error: "x" }] })).toEqual(
      ACCEPTED,
    );
    await expectRun(expect, mine, run.id, { name: "a run", inputs: { secret: 1 }, error: null });
    await expectRun(expect, theirs, run.id, { name: "theirs", inputs: {}, error: "x" });
    const { id } = await mine.client.readProject({ projectName: "private" });
    const stranger = runData("", { session_id: id });
    expect(await theirs.batch({ post: [stranger] })).toMatchObject({
      status: 422,
      body: { detail: `session_id: project ${id} not found` },
    });
  });
});
