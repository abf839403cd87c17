import { scopeObjectName } from "../../../lib/object-names.ts";
import type { Scope } from "../../../lib/scope.ts";
import { regionalObject } from "../../../regions/regional-object.ts";
import type { ThreadIndexObject } from "./thread-index-object.ts";

/** Returns the object that writes all rows of a scope's threads. */
export function threadIndex(env: Env, scope: Scope): DurableObjectStub<ThreadIndexObject> {
  return regionalObject(env, "THREAD_INDEX", scopeObjectName(scope));
}

/** Removes the rows of threads that no longer exist, whatever the version of the rows. */
export async function removeFromIndex(
  env: Env,
  scope: Scope,
  threadIds: readonly string[],
): Promise<void> {
  if (threadIds.length > 0) await threadIndex(env, scope).removeAll(scope, threadIds);
}
