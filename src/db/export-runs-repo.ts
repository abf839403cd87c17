import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { bulkExports, exportFiles, exportRuns } from "./bulk-export-schema.ts";
import { jsonValues } from "./json-values.ts";

/** Run ids are listed in one bound parameter, which has at most 2 MB. */
const RUNS_PER_STATEMENT = 1000;

/** SQLite does not support an offset without a limit. */
const ALL = Number.MAX_SAFE_INTEGER;

type Page = { limit?: number | undefined; offset: number };

export type ExportRunRow = typeof exportRuns.$inferSelect;

export type ExportFileRow = typeof exportFiles.$inferSelect;

/** Identifies one partition of an export. */
export type ExportRunKey = { workspaceId: string; runId: string };

export async function selectExportRun(
  db: D1Database,
  workspaceId: string,
  exportId: string,
  runId: string,
): Promise<ExportRunRow | undefined> {
  return drizzle(db)
    .select()
    .from(exportRuns)
    .where(
      and(
        eq(exportRuns.workspace_id, workspaceId),
        eq(exportRuns.id, runId),
        eq(exportRuns.export_id, exportId),
      ),
    )
    .get();
}

/** Returns the runs of an export, in the order of their days. */
export async function listExportRuns(
  db: D1Database,
  workspaceId: string,
  exportId: string,
  page: Page,
): Promise<ExportRunRow[]> {
  return drizzle(db)
    .select()
    .from(exportRuns)
    .where(and(eq(exportRuns.workspace_id, workspaceId), eq(exportRuns.export_id, exportId)))
    .orderBy(asc(exportRuns.start_time))
    .limit(page.limit ?? ALL)
    .offset(page.offset);
}

/** Returns the runs of all exports that a schedule has spawned. */
export async function listSpawnedRuns(
  db: D1Database,
  workspaceId: string,
  sourceId: string,
  page: Page,
): Promise<ExportRunRow[]> {
  const spawned = drizzle(db)
    .select({ id: bulkExports.id })
    .from(bulkExports)
    .where(and(eq(bulkExports.workspace_id, workspaceId), eq(bulkExports.source_id, sourceId)));
  return drizzle(db)
    .select()
    .from(exportRuns)
    .where(and(eq(exportRuns.workspace_id, workspaceId), inArray(exportRuns.export_id, spawned)))
    .orderBy(asc(exportRuns.start_time))
    .limit(page.limit ?? ALL)
    .offset(page.offset);
}

/** Returns the complete files of runs, in order. */
export async function listExportFiles(
  db: D1Database,
  workspaceId: string,
  runIds: readonly string[],
): Promise<ExportFileRow[]> {
  const files: ExportFileRow[] = [];
  for (let from = 0; from < runIds.length; from += RUNS_PER_STATEMENT) {
    const ids = runIds.slice(from, from + RUNS_PER_STATEMENT);
    const found = await drizzle(db)
      .select()
      .from(exportFiles)
      .where(
        and(
          eq(exportFiles.workspace_id, workspaceId),
          inArray(exportFiles.export_run_id, jsonValues(ids)),
        ),
      )
      .orderBy(asc(exportFiles.export_run_id), asc(exportFiles.number));
    for (const file of found) files.push(file);
  }
  return files;
}

/**
 * Starts runs of running exports, earliest days first, while fewer than `limit` runs of the export are running.
 * Applies to one export, or to all of the workspace. Returns the started runs.
 */
export async function startRuns(
  db: D1Database,
  workspaceId: string,
  { exportId = null, limit, now }: { exportId?: string | null; limit: number; now: number },
): Promise<ExportRunKey[]> {
  const { results } = await db
    .prepare(
      `UPDATE export_runs SET status = 'RUNNING', due_at = ?1, updated_at = ?1
       WHERE workspace_id = ?2 AND id IN (
         SELECT id FROM (
           SELECT r.id, e.id AS export_id,
             row_number() OVER (PARTITION BY e.id ORDER BY r.start_time) AS place
           FROM bulk_exports e
           JOIN export_runs r ON r.workspace_id = e.workspace_id AND r.export_id = e.id
           WHERE e.workspace_id = ?2 AND e.status = 'RUNNING' AND (?3 IS NULL OR e.id = ?3)
             AND r.status = 'CREATED') AS waiting
         WHERE place <= ?4 - (SELECT count(*) FROM export_runs
           WHERE workspace_id = ?2 AND export_id = waiting.export_id AND status = 'RUNNING'))
       RETURNING id`,
    )
    .bind(now, workspaceId, exportId, limit)
    .all<{ id: string }>();
  return results.map(({ id }) => ({ workspaceId, runId: id }));
}

/** Returns runs that have ended and left a multipart upload open. */
export async function listOpenUploads(db: D1Database, limit: number): Promise<ExportRunRow[]> {
  return drizzle(db)
    .select()
    .from(exportRuns)
    .where(sql`${exportRuns.open_upload} IS NOT NULL AND ${exportRuns.status} <> 'RUNNING'`)
    .limit(limit);
}

export async function clearOpenUpload(db: D1Database, row: ExportRunRow): Promise<void> {
  await drizzle(db)
    .update(exportRuns)
    .set({ open_upload: null })
    .where(and(eq(exportRuns.workspace_id, row.workspace_id), eq(exportRuns.id, row.id)));
}
