import { test as base } from "vitest";
import { startServer, type WorkerServer } from "./server.ts";
import { makeWorkspace } from "./workspaces.ts";

/**
 * The server of this vitest worker, which runs one file after another. Files share it when they need no variables of
 * their own and create everything in new workspaces. They do not when they read a whole bucket or database, use global
 * names, or measure the memory of the server.
 */
let started: Promise<WorkerServer> | undefined;

async function close(): Promise<void> {
  const server = started;
  started = undefined;
  await (await server)?.close();
}

function testBeside() {
  return base
    .extend("vars", { scope: "worker" }, () => ({ AGENT_AUTH: "api-key" }))
    .extend("shared", { scope: "worker" }, async ({ vars }, { onCleanup }) => {
      // Each `test` that is made here registers this; the first call closes the server.
      onCleanup(close);
      return await (started ??= startServer(vars, "project", { rollouts: true }));
    });
}

/** Returns a `test` whose file creates its workspaces on the shared server. */
export function testWithSharedServer() {
  return testBeside().extend("server", { scope: "file" }, ({ shared }) => shared);
}

/** Returns a `test` whose file has one workspace on the shared server, and uses its key by default. */
export function testInWorkspace() {
  return testBeside()
    .extend("server", { scope: "file" }, async ({ shared }) => {
      const { apiKey } = await makeWorkspace(shared, "one file's");
      return keyed(shared, apiKey);
    })
    .extend("client", ({ server }) => server.client());
}

function keyed(server: WorkerServer, apiKey: string): WorkerServer {
  return {
    ...server,
    client: (options) => server.client({ apiKey, ...options }),
    fetch: (path, init) => {
      const headers = new Headers(init?.headers);
      if (!headers.has("x-api-key")) headers.set("x-api-key", apiKey);
      return server.fetch(path, { ...init, headers });
    },
  };
}
