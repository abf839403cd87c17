import { ensureLocalWorkspace } from "../../cli/database/identity.ts";
import { bearer } from "../support/bearer.ts";
import { testWithServer } from "../support/server.ts";
import { testInWorkspace } from "../support/shared-server.ts";

const test = testInWorkspace();

test("the metrics count the threads of the deployment by status", async ({
  client,
  server,
  expect,
}) => {
  await client.threads.create();
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, "interrupts", { input: {} });
  await expect
    .poll(async () => (await server.fetch("/metrics?format=json")).json())
    .toEqual({ threads: { idle: 1, busy: 0, interrupted: 1, error: 0 } });
  const text = await server.fetch("/metrics");
  expect(text.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(await text.text()).toContain('\nthreadworks_threads{status="interrupted"} 1\n');
});

test("the metrics have no other format", async ({ server, expect }) => {
  expect((await server.fetch("/metrics?format=xml")).status).toBe(422);
});

const WORKSPACE = "4c4b7a2e-2d53-4d6e-9a3e-0d2f2b7c9a11";
const KEY = "tw_a-key-of-the-workspace-of-the-metrics";

const guarded = testWithServer(
  { AGENT_AUTH: "api-key", AGENT_WORKSPACE_ID: WORKSPACE },
  "custom-auth",
);

guarded(
  "the metrics need a key of the workspace, and are not for users",
  async ({ server, expect }) => {
    await ensureLocalWorkspace(server.database, { workspaceId: WORKSPACE, apiKey: KEY });
    expect((await server.fetch("/metrics", { headers: bearer("user") })).status).toBe(403);
    const studio = { "x-api-key": KEY, "x-auth-scheme": "langsmith" };
    expect((await server.fetch("/metrics", { headers: studio })).status).toBe(200);
  },
);
