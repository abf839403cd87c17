import { deleteAssistantsOf } from "../db/assistants-repo.ts";
import { deleteCronsOf } from "../db/crons-repo.ts";
import { deleteWebhookKeys } from "../db/webhook-keys-repo.ts";
import { listThreadIds } from "../db/threads-repo.ts";
import { mapLimited } from "../lib/map-limited.ts";
import type { Scope } from "../lib/scope.ts";
import { storeOf } from "./store/store-object.ts";
import { threadSeenBy } from "./threads/thread-stub.ts";
import { threadDatabases } from "./threads/index/thread-databases.ts";
import { removeFromIndex } from "./threads/index/thread-index.ts";
import { ALL_THREADS } from "./threads/contract/thread-requests.ts";

/** An invocation may make some thousand calls, and removing a thread takes a few. */
const THREADS_PER_CALL = 100;
const THREADS_AT_ONCE = 10;

/**
 * Removes what the agent server has of a deployment: crons, threads, assistants, the store, the keys of webhooks. Each call
 * removes some of the threads; it returns true when none are left. Temporary threads of stateless runs are not in the
 * index, and are removed when their runs end.
 */
export async function removeScope(env: Env, scope: Scope): Promise<boolean> {
  // First, so that no tick makes a thread meanwhile.
  await deleteCronsOf(env.DB, scope);
  const ids = await threadIdsOf(env, scope);
  await mapLimited(ids, THREADS_AT_ONCE, (id) =>
    threadSeenBy(ALL_THREADS, env, scope, id).remove(),
  );
  // A thread that is gone already does not remove its own row.
  await removeFromIndex(env, scope, ids);
  if (ids.length >= THREADS_PER_CALL) return false;
  await storeOf(env, scope).erase();
  await deleteAssistantsOf(env.DB, scope);
  await deleteWebhookKeys(env.DB, scope);
  return true;
}

/** Some threads, or the last ones when they are fewer than THREADS_PER_CALL. */
async function threadIdsOf(env: Env, scope: Scope): Promise<string[]> {
  const ids: string[] = [];
  for (const { database } of threadDatabases(env)) {
    ids.push(...(await listThreadIds(database, scope, THREADS_PER_CALL)));
    if (ids.length >= THREADS_PER_CALL) break;
  }
  return ids;
}
