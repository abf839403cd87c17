import { deleteAssistantsOf } from "../db/assistants-repo.ts";
import { deleteCronsOf } from "../db/crons-repo.ts";
import { deleteWebhookKeys } from "../db/webhook-keys-repo.ts";
import { listThreadIds } from "../db/threads-repo.ts";
import { mapLimited } from "../lib/map-limited.ts";
import type { Scope } from "../lib/scope.ts";
import { forgetAllAssistants } from "./assistants/assistant-cache.ts";
import { storeOf } from "./store/store-object.ts";
import { threadSeenBy } from "./threads/thread-stub.ts";
import { threadDatabases } from "./threads/index/thread-databases.ts";
import { removeFromIndex } from "./threads/index/thread-index.ts";
import { ALL_THREADS } from "./threads/contract/thread-requests.ts";

/** Maximum threads per call: an invocation may make a few thousand calls, and removing a thread takes several. */
const THREADS_PER_CALL = 100;
const THREADS_AT_ONCE = 10;

/**
 * Removes the agent server's data of a deployment: crons, threads, assistants, the store, webhook keys. Each call
 * removes some of the threads, and returns true once none are left. Temporary threads of stateless runs are not in
 * the index; they are removed when their runs end.
 */
export async function removeScope(env: Env, scope: Scope): Promise<boolean> {
  // Crons are deleted first, so that no tick creates a thread in the meantime.
  await deleteCronsOf(env.DB, scope);
  const ids = await threadIdsOf(env, scope);
  await mapLimited(ids, THREADS_AT_ONCE, (id) =>
    threadSeenBy(ALL_THREADS, env, scope, id).remove(),
  );
  // The row of a thread that no longer exists is not removed by the thread itself.
  await removeFromIndex(env, scope, ids);
  if (ids.length >= THREADS_PER_CALL) return false;
  await storeOf(env, scope).erase();
  await deleteAssistantsOf(env.DB, scope);
  await forgetAllAssistants(env, scope);
  await deleteWebhookKeys(env.DB, scope);
  return true;
}

/** Returns the ids of some threads. If they are fewer than THREADS_PER_CALL, they are the last ones. */
async function threadIdsOf(env: Env, scope: Scope): Promise<string[]> {
  const ids: string[] = [];
  for (const { database } of threadDatabases(env)) {
    ids.push(...(await listThreadIds(database, scope, THREADS_PER_CALL)));
    if (ids.length >= THREADS_PER_CALL) break;
  }
  return ids;
}
