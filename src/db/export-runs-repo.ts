import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { bulkExports, exportFiles, exportRuns } from "./bulk-export-schema.ts";

export type ExportRunRow = typeof exportRuns.$inferSelect;

export type ExportFileRow = typeof exportFiles.$inferSelect;

/** One of its export's partitions. */
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

/** In the order of their days. */
export async function listExportRuns(
  db: D1Database,
  workspaceId: string,
  exportId: string,
): Promise<ExportRunRow[]> {
  return drizzle(db)
    .select()
    .from(exportRuns)
    .where(and(eq(exportRuns.workspace_id, workspaceId), eq(exportRuns.export_id, exportId)))
    .orderBy(asc(exportRuns.start_time));
}

/** The runs of all exports that a schedule has spawned. */
export async function listSpawnedRuns(
  db: D1Database,
  workspaceId: string,
  sourceId: string,
  page: { limit: number; offset: number },
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
    .limit(page.limit)
    .offset(page.offset);
}

/** The complete files of runs, in order. */
export async function listExportFiles(
  db: D1Database,
  workspaceId: string,
  runIds: readonly string[],
): Promise<ExportFileRow[]> {
  return drizzle(db)
    .select()
    .from(exportFiles)
    .where(
      and(
        eq(exportFiles.workspace_id, workspaceId),
        inArray(
          exportFiles.export_run_id,
          sql`(SELECT value FROM json_each(${JSON.stringify(runIds)}))`,
        ),
      ),
    )
    .orderBy(asc(exportFiles.export_run_id), asc(exportFiles.number));
}

/**
 * Sets runs of an export to work, the earliest day first, as long as fewer than `limit` are and the
 * export is. Returns the ids of those that were set to work now.
 */
export async function startRuns(
  db: D1Database,
  workspaceId: string,
  exportId: string,
  { limit, now }: { limit: number; now: number },
): Promise<string[]> {
  const { results } = await db
    .prepare(
      `UPDATE export_runs SET status = 'RUNNING', due_at = ?, updated_at = ?
       WHERE workspace_id = ? AND id IN (
         SELECT id FROM export_runs WHERE workspace_id = ? AND export_id = ? AND status = 'CREATED'
         ORDER BY start_time
         LIMIT max(0, ? - (SELECT count(*) FROM export_runs
           WHERE workspace_id = ? AND export_id = ? AND status = 'RUNNING')))
       AND EXISTS (SELECT 1 FROM bulk_exports
         WHERE workspace_id = ? AND id = ? AND status = 'RUNNING')
       RETURNING id`,
    )
    .bind(
      now,
      now,
      workspaceId,
      workspaceId,
      exportId,
      limit,
      workspaceId,
      exportId,
      workspaceId,
      exportId,
    )
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** Runs at work that are due and that nobody works on, the longest waiting first. */
export async function listDueRuns(
  db: D1Database,
  now: number,
  limit: number,
): Promise<ExportRunKey[]> {
  const { results } = await db
    .prepare(
      `SELECT workspace_id AS workspaceId, id AS runId FROM export_runs
       WHERE status = 'RUNNING' AND due_at <= ? AND (lease_until IS NULL OR lease_until <= ?)
       ORDER BY due_at LIMIT ?`,
    )
    .bind(now, now, limit)
    .all<ExportRunKey>();
  return results;
}
