import { randomUUID } from "node:crypto";
import type http from "node:http";
import { testWithPlatform } from "./platform-server.ts";
import type { TestServer, TestVars } from "./server.ts";
import { makeWorkspace } from "./workspaces.ts";

/** A request to test/worker/code-runner.ts: the text of a function, which gets `input` and `CodeTools`. */
export type CodeRun = {
  ref: { workspaceId: string; deploymentId: string; revisionId: string };
  code: string;
  input?: unknown;
  /** The deployment's own list of hosts. */
  hosts?: string[] | null;
};

/** Parts of the runtime that a function cannot reference by itself. */
export type CodeTools = {
  connect: (address: string) => {
    readable: ReadableStream<Uint8Array<ArrayBuffer>>;
    writable: WritableStream<Uint8Array>;
  };
  http: typeof http;
  ctx: { waitUntil: (promise: Promise<unknown>) => void };
};

export type LogEntry = {
  id: string;
  timestamp: string;
  level: string;
  message: string;
  kind: string;
  revision_id: string | null;
};

export type TestDeployment = {
  ref: CodeRun["ref"];
  apiKey: string;
  /** Runs a function as the deployment's code. Returns its result, or its error as a text. */
  run: <T, Input>(
    code: (input: Input, tools: CodeTools) => T,
    input?: Input,
    hosts?: string[] | null,
  ) => Promise<Awaited<T>>;
  /** Returns a page of its log, oldest line first. */
  logs: (request?: object) => Promise<LogEntry[]>;
  usage: () => Promise<Record<string, unknown>[]>;
};

/** Returns a `test` with a platform that runs code like that of deployments. */
export function testWithCode(vars: TestVars = {}) {
  return testWithPlatform(vars, "test/worker/code-runner.ts").extend("deployment", ({ server }) =>
    newDeployment(server),
  );
}

/** Creates a deployment with a revision in a new workspace, as far as its log needs them. */
export async function newDeployment(server: TestServer): Promise<TestDeployment> {
  const workspace = await makeWorkspace(server, "logs");
  const ref = {
    workspaceId: workspace.id,
    deploymentId: randomUUID(),
    revisionId: randomUUID(),
  };
  await insertDeployment(server, ref);
  const ask = async (method: string, path: string, body?: object) => {
    const response = await server.fetch(`/v2/deployments/${ref.deploymentId}/${path}`, {
      method,
      headers: { "x-api-key": workspace.apiKey },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { logs: LogEntry[]; resources: Record<string, unknown>[] };
  };
  return {
    ref,
    apiKey: workspace.apiKey,
    run: async (code, input, hosts = null) => {
      const run: CodeRun = { ref, code: code.toString(), input, hosts };
      const response = await server.fetch("/run-code", {
        method: "POST",
        body: JSON.stringify(run),
      });
      const { value, error } = (await response.json()) as { value: never; error?: string };
      return error === undefined ? value : (error as never);
    },
    logs: async (request = {}) =>
      (await ask("POST", "deploy_logs", { order: "asc", ...request })).logs,
    usage: async () => (await ask("GET", "usage")).resources,
  };
}

/** Inserts the rows of a deployment that serves a revision. */
export async function insertDeployment(server: TestServer, ref: CodeRun["ref"]): Promise<void> {
  const { workspaceId, deploymentId, revisionId } = ref;
  await server.database.run(
    `INSERT INTO deployments (workspace_id, id, name, slug, source, source_config, status,
       latest_revision_id, active_revision_id, deletes_project, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'internal_source', '{}', 'READY', ?, ?, 0, 1, 1)`,
    [workspaceId, deploymentId, deploymentId, deploymentId, revisionId, revisionId],
  );
  await insertRevision(server, ref);
}

export async function insertRevision(server: TestServer, ref: CodeRun["ref"]): Promise<void> {
  const { workspaceId, deploymentId, revisionId } = ref;
  await server.database.run(
    `INSERT INTO revisions (workspace_id, deployment_id, id, status, source, secrets, created_at,
       updated_at, attempts)
     VALUES (?, ?, ?, 'DEPLOYED', 'internal_source', '{}', 1, 1, 1)`,
    [workspaceId, deploymentId, revisionId],
  );
}
