import { vi } from "vitest";
import {
  createDeployment,
  type Deployer,
  type DeploymentBody,
  newDeployer,
  templateBody,
} from "../support/deployments.ts";
import { send } from "../support/http.ts";
import { agentClient, endedRevision } from "../support/rollouts.ts";
import { testWithServer, type WorkerServer } from "../support/server.ts";

const test = testWithServer().extend("deployer", ({ server }) => newDeployer(server));

const PATIENCE = { timeout: 150_000, interval: 50 };

type Bucket = { list: (options: { prefix: string }) => Promise<{ objects: { key: string }[] }> };

async function deployedAgent(deployer: Deployer, name: string): Promise<DeploymentBody> {
  const secrets = [{ name: "A", value: "1" }];
  const created = await createDeployment(deployer, templateBody(name, { secrets }));
  const { status } = await endedRevision(deployer, created.id, created.latest_revision_id);
  if (status !== "DEPLOYED") throw new Error(status);
  return created;
}

async function keysOf({ bindings }: WorkerServer, prefix: string): Promise<string[]> {
  const { SOURCES }: { SOURCES: Bucket } = (await bindings()) as { SOURCES: Bucket };
  return (await SOURCES.list({ prefix })).objects.map(({ key }) => key);
}

async function rowsOf({ database }: WorkerServer, table: string, id: string): Promise<number> {
  const sql = `SELECT count(*) AS n FROM ${table} WHERE deployment_id = ?`;
  const [row] = (await database.run(sql, [id])) as { n: number }[];
  return row?.n ?? -1;
}

/** Returns the number of ended runs over all projects. */
async function tracedRuns(server: WorkerServer, { apiKey }: Deployer): Promise<number> {
  const headers = { "x-api-key": apiKey };
  const projects = await send(server, "GET", "/api/v1/sessions", undefined, headers);
  const session = (projects.body as { id: string }[]).map(({ id }) => id);
  const query = { session, is_root: true, filter: 'eq(status, "success")' };
  const { body } = await send(server, "POST", "/api/v1/runs/query", query, headers);
  return (body as { runs: unknown[] }).runs.length;
}

test("a deployment is deleted with all of its data, and its name is free again", async ({
  server,
  deployer,
  expect,
}) => {
  const gone = await deployedAgent(deployer, "gone");
  const kept = await deployedAgent(deployer, "kept");
  const input = { messages: [{ role: "user", content: "What is 20 + 22?" }] };
  const threads = new Map<string, string>();
  for (const deployment of [gone, kept]) {
    const client = agentClient(deployment, deployer.apiKey);
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "agent", { input });
    await client.assistants.create({ graphId: "agent" });
    threads.set(deployment.id, thread_id);
  }
  // The two objects are the code and its source map.
  expect(await keysOf(server, `${deployer.id}/built/${gone.id}/`)).toHaveLength(2);
  // A trace that arrives after its project was deleted would be the first one of a new project.
  await vi.waitFor(async () => expect(await tracedRuns(server, deployer)).toBe(2), PATIENCE);

  const path = `/deployments/${gone.id}?delete_tracing_project=true`;
  expect((await deployer.call("DELETE", path)).status).toBe(204);
  await vi.waitFor(async () => {
    expect((await deployer.call("GET", `/deployments/${gone.id}`)).status).toBe(404);
  }, PATIENCE);

  expect(await keysOf(server, deployer.id)).toEqual([
    `${deployer.id}/built/${kept.id}/${kept.latest_revision_id}.json`,
    `${deployer.id}/built/${kept.id}/${kept.latest_revision_id}.map`,
  ]);
  for (const table of ["threads", "assistants", "assistant_versions", "revisions"]) {
    expect([table, await rowsOf(server, table, gone.id)]).toEqual([table, 0]);
  }
  for (const url of ["/deployments/gone", `/deployments/${gone.id}`]) {
    const asked = await send(server, "GET", `${url}/threads/${threads.get(gone.id)}`, undefined, {
      "x-api-key": deployer.apiKey,
    });
    expect([url, asked.status]).toEqual([url, 404]);
  }
  const state = await agentClient(kept, deployer.apiKey).threads.getState(
    threads.get(kept.id) ?? "",
  );
  expect(JSON.stringify(state.values)).toContain("42");
  const headers = { "x-api-key": deployer.apiKey };
  const { body } = await send(server, "GET", "/api/v1/sessions", undefined, headers);
  expect(body).toMatchObject([{ name: "kept" }]);

  const again = await createDeployment(deployer, templateBody("gone"));
  expect(again.id).not.toBe(gone.id);
  expect(again.source_config["custom_url"]).toBe(gone.source_config["custom_url"]);
});
