import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import {
  bulkExports,
  exportCredentials,
  exportDestinations,
  exportRuns,
} from "./bulk-export-schema.ts";
import { jsonValues } from "./json-values.ts";

export type ExportDestinationRow = typeof exportDestinations.$inferSelect;

export type ExportCredentialsRow = typeof exportCredentials.$inferSelect;

/**
 * `names` is a JSON list of the members of the current credentials; null for the installation's own credentials.
 */
export type ListedDestination = { destination: ExportDestinationRow; names: string | null };

/** SQLite does not support an offset without a limit. */
const ALL = Number.MAX_SAFE_INTEGER;

export async function insertExportDestination(
  db: D1Database,
  row: ExportDestinationRow,
  credentials: ExportCredentialsRow | null,
): Promise<void> {
  const orm = drizzle(db);
  const insert = orm.insert(exportDestinations).values(row);
  if (credentials === null) await insert;
  else await orm.batch([insert, orm.insert(exportCredentials).values(credentials)]);
}

/** Returns destinations, newest first. */
export async function listExportDestinations(
  db: D1Database,
  workspaceId: string,
  page: { limit?: number | undefined; offset?: number | undefined },
): Promise<ListedDestination[]> {
  return withNames(db)
    .where(isVisible(workspaceId))
    .orderBy(desc(exportDestinations.created_at), desc(exportDestinations.id))
    .limit(page.limit ?? ALL)
    .offset(page.offset ?? 0);
}

export async function countExportDestinations(
  db: D1Database,
  workspaceId: string,
): Promise<number> {
  return drizzle(db).$count(exportDestinations, isVisible(workspaceId));
}

/** Returns undefined when the workspace has no such destination, or it was deleted. */
export async function selectExportDestination(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<ExportDestinationRow | undefined> {
  return (await selectListedDestination(db, workspaceId, id))?.destination;
}

export async function selectListedDestination(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<ListedDestination | undefined> {
  return withNames(db)
    .where(and(isVisible(workspaceId), eq(exportDestinations.id, id)))
    .get();
}

/** Returns a destination even if it was deleted, because finished exports still show their destination. */
export async function selectAnyExportDestination(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<ExportDestinationRow | undefined> {
  return drizzle(db)
    .select()
    .from(exportDestinations)
    .where(and(eq(exportDestinations.workspace_id, workspaceId), eq(exportDestinations.id, id)))
    .get();
}

/**
 * Stores a new version of the credentials and makes it the current one. Returns the destination; undefined when it
 * is gone, or its current credentials are not version `from`.
 */
export async function replaceExportCredentials(
  db: D1Database,
  credentials: ExportCredentialsRow,
  change: { from: number | null; displayName: string | undefined; now: number },
): Promise<ExportDestinationRow | undefined> {
  const { workspace_id, destination_id, version, sealed, key_version, names } = credentials;
  // The batch is one transaction. Both statements check the destination as it was before.
  const [, updated] = await db.batch<ExportDestinationRow>([
    db
      .prepare(
        `INSERT INTO export_credentials
           (workspace_id, destination_id, version, sealed, key_version, names, created_at)
         SELECT workspace_id, id, ?3, ?4, ?5, ?6, ?7 FROM export_destinations
         WHERE workspace_id = ?1 AND id = ?2 AND deleted_at IS NULL AND credentials_version IS ?8`,
      )
      .bind(
        workspace_id,
        destination_id,
        version,
        sealed,
        key_version,
        names,
        credentials.created_at,
        change.from,
      ),
    db
      .prepare(
        `UPDATE export_destinations
         SET credentials_version = ?3, updated_at = ?4, display_name = coalesce(?5, display_name)
         WHERE workspace_id = ?1 AND id = ?2 AND deleted_at IS NULL AND credentials_version IS ?6
         RETURNING id`,
      )
      .bind(
        workspace_id,
        destination_id,
        version,
        change.now,
        change.displayName ?? null,
        change.from,
      ),
  ]);
  if (updated?.results.length !== 1) return undefined;
  return selectExportDestination(db, workspace_id, destination_id);
}

/**
 * Hides the destination and deletes its credentials, unless an unfinished export needs it. This check and the one
 * made when an export is created are single statements, so a race between them has one winner.
 */
export async function deleteExportDestination(
  db: D1Database,
  workspaceId: string,
  id: string,
  now: number,
): Promise<"deleted" | "in_use" | "not_found"> {
  const [deleted] = await db.batch<{ id: string }>([
    db
      .prepare(
        `UPDATE export_destinations SET deleted_at = ?3, updated_at = ?3, credentials_version = NULL
         WHERE workspace_id = ?1 AND id = ?2 AND deleted_at IS NULL AND NOT EXISTS (
           SELECT 1 FROM bulk_exports e
           WHERE e.workspace_id = ?1 AND e.destination_id = ?2
             AND e.status IN ('CREATED', 'RUNNING'))
         RETURNING id`,
      )
      .bind(workspaceId, id, now),
    db
      .prepare(
        `DELETE FROM export_credentials
         WHERE workspace_id = ?1 AND destination_id = ?2 AND EXISTS (
           SELECT 1 FROM export_destinations d
           WHERE d.workspace_id = ?1 AND d.id = ?2 AND d.deleted_at IS NOT NULL)`,
      )
      .bind(workspaceId, id),
  ]);
  if (deleted?.results.length === 1) return "deleted";
  const row = await selectExportDestination(db, workspaceId, id);
  return row === undefined ? "not_found" : "in_use";
}

export async function selectExportCredentials(
  db: D1Database,
  key: { workspaceId: string; destinationId: string; version: number },
): Promise<ExportCredentialsRow | undefined> {
  return drizzle(db).select().from(exportCredentials).where(isVersion(key)).get();
}

/**
 * Returns some credentials that are encrypted by one of these keys. The order is random, so that rows which cannot
 * be decrypted do not block the others.
 */
export async function listCredentialsByKey(
  db: D1Database,
  keyVersions: readonly number[],
  limit: number,
): Promise<ExportCredentialsRow[]> {
  return drizzle(db)
    .select()
    .from(exportCredentials)
    .where(sql`${exportCredentials.key_version} IN ${jsonValues(keyVersions)}`)
    .orderBy(sql`random()`)
    .limit(limit);
}

/** Returns false when the row has changed since it was read. */
export async function resealExportCredentials(
  db: D1Database,
  row: ExportCredentialsRow,
  to: { sealed: string; keyVersion: number },
): Promise<boolean> {
  const { workspace_id: workspaceId, destination_id: destinationId, version } = row;
  const updated = await drizzle(db)
    .update(exportCredentials)
    .set({ sealed: to.sealed, key_version: to.keyVersion })
    .where(
      and(
        isVersion({ workspaceId, destinationId, version }),
        eq(exportCredentials.sealed, row.sealed),
      ),
    )
    .returning({ version: exportCredentials.version });
  return updated.length > 0;
}

/**
 * Removes up to `limit` versions that are neither current nor used by an export run. Returns how many were
 * removed.
 */
export async function deleteUnusedCredentials(db: D1Database, limit: number): Promise<number> {
  const { version, workspace_id, destination_id } = exportCredentials;
  const deleted = await drizzle(db)
    .delete(exportCredentials)
    .where(
      sql`rowid IN (SELECT rowid FROM ${exportCredentials} WHERE NOT EXISTS (
        SELECT 1 FROM ${exportDestinations}
        WHERE ${exportDestinations.workspace_id} = ${workspace_id}
          AND ${exportDestinations.id} = ${destination_id}
          AND ${exportDestinations.credentials_version} = ${version})
      AND NOT EXISTS (
        SELECT 1 FROM ${exportRuns}
        JOIN ${bulkExports} ON ${bulkExports.workspace_id} = ${exportRuns.workspace_id}
          AND ${bulkExports.id} = ${exportRuns.export_id}
        WHERE ${exportRuns.workspace_id} = ${workspace_id}
          AND ${exportRuns.status} = 'RUNNING'
          AND ${exportRuns.credentials_version} = ${version}
          AND ${bulkExports.destination_id} = ${destination_id}) LIMIT ${limit})`,
    )
    .returning({ version });
  return deleted.length;
}

function withNames(db: D1Database) {
  return drizzle(db)
    .select({ destination: exportDestinations, names: exportCredentials.names })
    .from(exportDestinations)
    .leftJoin(
      exportCredentials,
      and(
        eq(exportCredentials.workspace_id, exportDestinations.workspace_id),
        eq(exportCredentials.destination_id, exportDestinations.id),
        eq(exportCredentials.version, exportDestinations.credentials_version),
      ),
    )
    .$dynamic();
}

function isVisible(workspaceId: string) {
  return and(
    eq(exportDestinations.workspace_id, workspaceId),
    isNull(exportDestinations.deleted_at),
  );
}

function isVersion(key: { workspaceId: string; destinationId: string; version: number }) {
  return and(
    eq(exportCredentials.workspace_id, key.workspaceId),
    eq(exportCredentials.destination_id, key.destinationId),
    eq(exportCredentials.version, key.version),
  );
}
