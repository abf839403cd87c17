import { Client, RunTree } from "langsmith";
import { describe, type ExpectStatic } from "vitest";
import { limitedVars, newLimitedKey } from "../support/limited-workspace.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { collect } from "../support/tracing.ts";

const RUNS = 12;
/** The client sends many requests at once, and waits longer after each attempt. */
const LIMIT = { count: 8, seconds: 1 };
const INFO = "/api/v1/info";

const test = testWithServer(
  limitedVars({ "runs-create": LIMIT, "runs-update": LIMIT, "runs-batch": LIMIT }),
);

type Sent = { path: string; status: number; ids: string[] };

type Options = ConstructorParameters<typeof Client>[0];

/** Returns the official client with its defaults except for the endpoint, and the requests that it has sent. */
async function recordingClient(
  server: TestServer,
  options: Options,
): Promise<{ client: Client; sent: Sent[] }> {
  const sent: Sent[] = [];
  const client = new Client({
    apiUrl: `${server.url}/api/v1`,
    apiKey: await newLimitedKey(server),
    fetchImplementation: async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      const response = await fetch(input, init);
      if (pathname === INFO) return withoutMultipart(response);
      const { status } = response;
      const ids = /[0-9a-f-]{36}$/.exec(pathname) ?? [];
      sent.push({ path: pathname, status, ids: [...ids, ...idsIn(init?.body)] });
      return response;
    },
    ...options,
  });
  return { client, sent };
}

async function withoutMultipart(response: Response): Promise<Response> {
  const info = (await response.json()) as { batch_ingest_config: object };
  const batch_ingest_config = { ...info.batch_ingest_config, use_multipart_endpoint: false };
  return Response.json({ ...info, batch_ingest_config });
}

/** Returns the ids of the runs that a body creates. */
function idsIn(body: unknown): string[] {
  if (body === undefined || body === null) return [];
  const text = typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array);
  const { id, post = [] } = JSON.parse(text) as { id?: string; post?: { id: string }[] };
  return [...(id === undefined ? [] : [id]), ...post.map((run) => run.id)];
}

async function expectNothingLost(
  expect: ExpectStatic,
  client: Client,
  { project, sent, ids }: { project: string; sent: Sent[]; ids: string[] },
): Promise<void> {
  const statuses = new Set(sent.map(({ status }) => status));
  expect(statuses).toEqual(new Set([202, 429]));
  const stored = await collect(client.listRuns({ projectName: project }));
  const storedIds = new Set(stored.map(({ id }) => id));
  const accepted = sent.filter(({ status }) => status === 202).flatMap((request) => request.ids);
  expect(accepted.filter((id) => !storedIds.has(id))).toEqual([]);
  // The client retries, so everything arrives in the end.
  expect(storedIds).toEqual(new Set(ids));
  for (const { outputs } of stored) expect(outputs).toEqual({ done: true });
}

describe("the official client loses nothing under a low limit", () => {
  test("when it sends one by one", async ({ server, expect }) => {
    const { client, sent } = await recordingClient(server, { autoBatchTracing: false });
    const runs = Array.from(
      { length: RUNS },
      (_, index) => new RunTree({ name: `run ${index}`, client, project_name: "singles" }),
    );
    await Promise.all(
      runs.map(async (run) => {
        await run.postRun();
        await run.end({ done: true });
        await run.patchRun();
      }),
    );
    await client.awaitPendingTraceBatches();
    const ids = runs.map(({ id }) => id);
    await expectNothingLost(expect, client, { project: "singles", sent, ids });
  });

  test("when it sends in batches", async ({ server, expect }) => {
    const { client, sent } = await recordingClient(server, { batchSizeLimit: 1 });
    const ids: string[] = [];
    for (let index = 0; index < RUNS; index += 1) {
      const run = new RunTree({ name: `run ${index}`, client, project_name: "batches" });
      await run.end({ done: true });
      await run.postRun();
      ids.push(run.id);
    }
    await client.awaitPendingTraceBatches();
    await expectNothingLost(expect, client, { project: "batches", sent, ids });
  });
});
