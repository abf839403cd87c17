import { v7 as uuidv7 } from "uuid";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../../src/lib/scope.ts";
import { answerThreads, type RunBody } from "./answer-threads.ts";
import type { PromisesEnv, RunRequest } from "./promises/thread.ts";

// The least that keeps the platform's promises for a thread and a run, each in the leanest way: the key and the
// assistant are read from D1, the thread is listed in D1, the run and its supersteps are on disk and continue after a
// crash, and its trace is recorded. There are no routes, schemas, options, queue, cancellation, late readers, expiry,
// webhooks, deployments or limits. What the platform could gain without breaking a promise is the distance to this.

export { PromisesGraphs } from "./promises/graphs.ts";
export { IndexObject, RunIdsObject, TracesObject } from "./promises/shared-objects.ts";
export { PromisesThread } from "./promises/thread.ts";

const KEY = "SELECT workspace_id FROM api_keys WHERE hash = ? AND revoked_at IS NULL";

/** The key and the assistant in one statement, as each statement is a call of D1. */
const KEY_AND_ASSISTANT = `
  SELECT assistants.assistant_id, assistants.graph_id, assistants.config, assistants.context
  FROM api_keys JOIN assistants USING (workspace_id)
  WHERE hash = ? AND revoked_at IS NULL AND deployment_id = ? AND assistant_id = ?`;

type Assistant = { assistant_id: string; graph_id: string };

export default {
  async fetch(request: Request, { DB, THREADS }: PromisesEnv): Promise<Response> {
    const hash = await sha256Hex(request.headers.get("x-api-key") ?? "");
    return answerThreads(request, {
      create: async (id) => {
        const found = await DB.prepare(KEY).bind(hash).first<{ workspace_id: string }>();
        if (found === null) return false;
        const scope: Scope = {
          workspaceId: found.workspace_id,
          deploymentId: DEFAULT_DEPLOYMENT_ID,
        };
        await THREADS.getByName(id).create(scope, id);
        return true;
      },
      wait: async (id, body) => {
        const run = await admittedRun(DB, hash, body);
        return run === null ? null : THREADS.getByName(id).wait(run);
      },
      stream: async (id, body) => {
        const run = await admittedRun(DB, hash, body);
        return run === null ? null : THREADS.getByName(id).stream(run);
      },
    });
  },
};

/** Returns null without a key, or without an assistant of that key's workspace. */
async function admittedRun(
  database: D1Database,
  keyHash: string,
  { assistant_id, input }: RunBody,
): Promise<RunRequest | null> {
  const found = await database
    .prepare(KEY_AND_ASSISTANT)
    .bind(keyHash, DEFAULT_DEPLOYMENT_ID, assistant_id)
    .first<Assistant>();
  if (found === null) return null;
  const { graph_id } = found;
  return {
    run_id: uuidv7(),
    assistant_id: found.assistant_id,
    graph_id,
    input: JSON.stringify(input),
  };
}
