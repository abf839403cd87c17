import { Client, type Run } from "langsmith";
import type { TestServer } from "./server.ts";
import { makeWorkspace, type TestWorkspace } from "./workspaces.ts";

export type TracingWorkspace = TestWorkspace & {
  /** The official client, which sends at once and never retries. */
  client: Client;
  /** Sends a request; `path` is below `/api/v1`, and the body is sent as JSON. */
  api: (method: string, path: string, body?: unknown) => Promise<Response>;
};

export async function tracingWorkspace(
  server: TestServer,
  name: string,
  options: ConstructorParameters<typeof Client>[0] = {},
): Promise<TracingWorkspace> {
  const workspace = await makeWorkspace(server, name);
  return {
    ...workspace,
    client: new Client({
      apiUrl: `${server.url}/api/v1`,
      apiKey: workspace.apiKey,
      callerOptions: { maxRetries: 0 },
      ...options,
    }),
    api: (method, path, body) =>
      server.fetch(`/api/v1${path}`, {
        method,
        headers: { "x-api-key": workspace.apiKey, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Returns the trees of all traces of a project, after the client has sent its queue. */
export async function tracesOf(client: Client, projectName: string): Promise<Run[]> {
  await client.awaitPendingTraceBatches();
  const roots = await collect(client.listRuns({ projectName, isRoot: true, order: "asc" }));
  return Promise.all(roots.map(({ id }) => client.readRun(id, { loadChildRuns: true })));
}
