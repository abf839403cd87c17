import { env } from "cloudflare:workers";
import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import type { CreateRunRequest } from "../../src/agent-server/threads/contract/run-request.ts";
import { type RunCreateBody, toRunPayload } from "../../src/agent-server/threads/run-schemas.ts";
import { type ThreadHandle, threadSeenBy } from "../../src/agent-server/threads/thread-stub.ts";
import { ALL_THREADS } from "../../src/agent-server/threads/contract/thread-requests.ts";
import type { Run } from "../../src/agent-server/threads/contract/thread-json.ts";
import { insertAssistant } from "../../src/db/assistants-repo.ts";
import { readJsonText } from "../../src/lib/json-answer.ts";
import { threadObjectName } from "../../src/lib/object-names.ts";
import type { Scope } from "../../src/lib/scope.ts";

declare module "vitest" {
  // The value is provided by vitest.config.ts.
  interface ProvidedContext {
    migrations: D1Migration[];
  }
}

export async function migrateIndex(migrations: D1Migration[]): Promise<void> {
  await applyD1Migrations(env.DB, migrations);
}

export type TestThread = {
  id: string;
  scope: Scope;
  api: ThreadHandle;
  object: DurableObjectStub;
  run: (
    graph: string,
    body: Omit<RunCreateBody, "assistant_id">,
    options?: Partial<CreateRunRequest>,
  ) => ReturnType<ThreadHandle["createRun"]>;
};

/** Returns a thread, in a new workspace unless one is given, which is not created yet. */
export function newThread(
  scope: Scope = { workspaceId: crypto.randomUUID(), deploymentId: "default" },
): TestThread {
  const id = crypto.randomUUID();
  const api = threadSeenBy(ALL_THREADS, env, scope, id);
  return {
    id,
    scope,
    api,
    object: env.THREADS.get(env.THREADS.idFromName(threadObjectName(scope, id))),
    run: (graph, body, options = {}) =>
      api.createRun({
        scope,
        thread_id: id,
        run_id: crypto.randomUUID(),
        assistant: {
          assistant_id: graph,
          graph_id: graph,
          config: {},
          context: {},
          metadata: {},
        },
        payload: toRunPayload({ assistant_id: graph, ...body }),
        create_thread: true,
        temporary: false,
        follow: "none",
        cancel_on_disconnect: false,
        principal: null,
        revision_id: null,
        ...options,
      }),
  };
}

/** Returns the thread's runs, newest first, or null if there is no such thread. */
export async function runsOf(thread: TestThread): Promise<Run[] | null> {
  const query = { limit: 10, offset: 0, status: null, fields: null };
  const listed = await thread.api.listRuns(query);
  return listed === null ? null : JSON.parse((await readJsonText(listed, 10_000_000)) ?? "");
}

export async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  return new Response(stream).text();
}

/** Returns the number of rows in a table of an object, or 0 if the table does not exist. */
export function rowsIn(sql: SqlStorage, table: string): number {
  const made = sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", table).toArray().length > 0;
  return made ? sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n : 0;
}

/** Stores an assistant of the graph `agent`. */
export async function newAssistant(
  { workspaceId, deploymentId }: Scope,
  id: string,
  name: string,
): Promise<void> {
  const row = {
    workspace_id: workspaceId,
    deployment_id: deploymentId,
    assistant_id: id,
    version: 1,
    graph_id: "agent",
    name,
    description: null,
    config: "{}",
    context: "{}",
    metadata: "{}",
    created_at: 1,
    updated_at: 1,
  };
  await env.DB.batch(insertAssistant(env.DB, row));
}
