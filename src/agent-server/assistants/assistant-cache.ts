import { type AssistantRow, selectAssistant } from "../../db/assistants-repo.ts";
import { log } from "../../lib/log.ts";
import { scopeObjectName } from "../../lib/object-names.ts";
import type { Scope } from "../../lib/scope.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import type { AssistantCacheObject } from "./assistant-cache-object.ts";

/** Reads an assistant that a run names, from the scope's cache, or from D1 while that does not answer. */
export async function cachedAssistant(
  env: Env,
  scope: Scope,
  id: string,
): Promise<AssistantRow | null> {
  try {
    return await assistantCache(env, scope).find(scope, id);
  } catch (error) {
    logFailure(error);
    return selectAssistant(env.DB, scope, id).first<AssistantRow>();
  }
}

/**
 * Must be called after an assistant is changed, created or deleted, before that is answered. If the cache cannot be
 * reached, which is logged, it may have the former assistant for a few seconds.
 */
export async function forgetAssistant(env: Env, scope: Scope, id: string): Promise<void> {
  await change(env, scope, (cache) => cache.forget(id));
}

/** The same for all assistants of a scope. */
export async function forgetAllAssistants(env: Env, scope: Scope): Promise<void> {
  await change(env, scope, (cache) => cache.forgetAll());
}

type Cache = DurableObjectStub<AssistantCacheObject>;

async function change(
  env: Env,
  scope: Scope,
  forget: (cache: Cache) => Promise<void>,
): Promise<void> {
  try {
    // A stub that has failed stays broken, so the second attempt gets its own.
    await forget(assistantCache(env, scope)).catch(() => forget(assistantCache(env, scope)));
  } catch (error) {
    logFailure(error);
  }
}

function assistantCache(env: Env, scope: Scope): Cache {
  return regionalObject(env, "ASSISTANT_CACHE", scopeObjectName(scope));
}

function logFailure(error: unknown): void {
  log("error", "error", { event: "assistant_cache_failed", error: String(error) });
}
