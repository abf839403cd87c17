import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Database } from "./client.ts";
import { apiKeys, type Plan, workspaces } from "./schema.ts";

export type KeyIdentity = {
  keyId: string;
  hash: string;
  workspaceId: string;
  plan: Plan;
  lastUsedAt: number | null;
};

/** The unrevoked key with this hash, with its workspace. */
export async function findKeyByHash(db: Database, hash: string): Promise<KeyIdentity | undefined> {
  return db
    .select({
      keyId: apiKeys.id,
      hash: apiKeys.hash,
      workspaceId: apiKeys.workspaceId,
      plan: workspaces.plan,
      lastUsedAt: apiKeys.lastUsedAt,
    })
    .from(apiKeys)
    .innerJoin(workspaces, eq(workspaces.id, apiKeys.workspaceId))
    .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revokedAt)))
    .get();
}

/** Notes the use, unless one was noted since `before`. */
export async function touchKey(
  db: Database,
  keyId: string,
  times: { now: number; before: number },
): Promise<void> {
  await db
    .update(apiKeys)
    .set({ lastUsedAt: times.now })
    .where(
      and(
        eq(apiKeys.id, keyId),
        or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, times.before)),
      ),
    );
}
