import { and, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { Scope } from "../lib/scope.ts";
import { jsonValues } from "./json-values.ts";
import { webhookKeys } from "./schema.ts";

export type WebhookKeysRow = typeof webhookKeys.$inferSelect;

/** The sealed columns of a row, and the version of the key that sealed them. */
type Sealed = Pick<WebhookKeysRow, "signing_key" | "previous_key" | "key_version">;

export async function findWebhookKeys(
  db: D1Database,
  scope: Scope,
): Promise<WebhookKeysRow | undefined> {
  return drizzle(db).select().from(webhookKeys).where(isOf(scope)).get();
}

/** Inserts the row unless one exists, and returns the stored row. */
export async function insertWebhookKeys(
  db: D1Database,
  row: WebhookKeysRow,
): Promise<WebhookKeysRow | undefined> {
  await drizzle(db).insert(webhookKeys).values(row).onConflictDoNothing();
  return findWebhookKeys(db, scopeOf(row));
}

/** Returns false when the row has changed since it was read. */
export async function replaceWebhookKeys(
  db: D1Database,
  row: WebhookKeysRow,
  to: Sealed & Partial<Pick<WebhookKeysRow, "previous_expires_at" | "updated_at">>,
): Promise<boolean> {
  const updated = await drizzle(db)
    .update(webhookKeys)
    .set(to)
    .where(and(isOf(scopeOf(row)), eq(webhookKeys.signing_key, row.signing_key)))
    .returning({ deployment_id: webhookKeys.deployment_id });
  return updated.length === 1;
}

/** Returns some rows that are sealed by one of these keys, in random order. */
export async function listWebhookKeysByKey(
  db: D1Database,
  keyVersions: readonly number[],
  limit: number,
): Promise<WebhookKeysRow[]> {
  return drizzle(db)
    .select()
    .from(webhookKeys)
    .where(sql`${webhookKeys.key_version} IN ${jsonValues(keyVersions)}`)
    .orderBy(sql`random()`)
    .limit(limit);
}

export async function deleteWebhookKeys(db: D1Database, scope: Scope): Promise<void> {
  await drizzle(db).delete(webhookKeys).where(isOf(scope));
}

function isOf({ workspaceId, deploymentId }: Scope) {
  return and(
    eq(webhookKeys.workspace_id, workspaceId),
    eq(webhookKeys.deployment_id, deploymentId),
  );
}

function scopeOf(row: WebhookKeysRow): Scope {
  return { workspaceId: row.workspace_id, deploymentId: row.deployment_id };
}
