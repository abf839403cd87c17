import { and, desc, eq, lte, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { bulkExports, type NewPartition } from "./bulk-export-schema.ts";

export type BulkExportRow = typeof bulkExports.$inferSelect;

export type NewBulkExport = Omit<
  BulkExportRow,
  "updated_at" | "started_at" | "finished_at" | "hold_reason"
>;

/** The statuses with which an export, and its unfinished runs, can end other than by completing or failing. */
type ExportEnding = "CANCELLED" | "TIMEDOUT";

const COLUMNS = [
  "id",
  "workspace_id",
  "destination_id",
  "project_id",
  "start_time",
  "end_time",
  "filter",
  "format_version",
  "compression",
  "export_fields",
  "interval_hours",
  "source_id",
  "status",
  "next_start",
  "next_due_at",
  "created_at",
] as const satisfies (keyof NewBulkExport)[];

/**
 * Stores an export with its partitions. Returns false, and stores nothing, when its destination is gone or the
 * range of its schedule has been stored before.
 */
export async function insertBulkExport(
  db: D1Database,
  row: NewBulkExport,
  partitions: readonly NewPartition[],
): Promise<boolean> {
  const [inserted] = await db.batch([insertExport(db, row), insertRuns(db, row, partitions)]);
  return inserted?.meta.changes === 1;
}

/**
 * Stores the export of a schedule's range and advances the schedule to the next range. Returns false, and stores
 * no export, when it was stored before or the schedule has ended.
 */
export async function insertSpawnedExport(
  db: D1Database,
  row: NewBulkExport & { source_id: string },
  partitions: readonly NewPartition[],
  next: { start: number; dueAt: number },
): Promise<boolean> {
  const [inserted] = await db.batch([
    insertExport(db, row),
    insertRuns(db, row, partitions),
    db
      .prepare(
        `UPDATE bulk_exports SET next_start = ?, next_due_at = ?
         WHERE workspace_id = ? AND id = ? AND status = 'CREATED' AND next_start = ?`,
      )
      .bind(next.start, next.dueAt, row.workspace_id, row.source_id, row.start_time),
  ]);
  return inserted?.meta.changes === 1;
}

function insertExport(db: D1Database, row: NewBulkExport): D1PreparedStatement {
  const values = COLUMNS.map((column) => row[column]);
  return db
    .prepare(
      `INSERT OR IGNORE INTO bulk_exports (${COLUMNS.join(", ")}, updated_at)
       SELECT ${COLUMNS.map(() => "?").join(", ")}, ?
       WHERE EXISTS (SELECT 1 FROM export_destinations
         WHERE workspace_id = ? AND id = ? AND deleted_at IS NULL)
       AND (? IS NULL OR EXISTS (SELECT 1 FROM bulk_exports
         WHERE workspace_id = ? AND id = ? AND status = 'CREATED'))`,
    )
    .bind(
      ...values,
      row.created_at,
      row.workspace_id,
      row.destination_id,
      row.source_id,
      row.workspace_id,
      row.source_id,
    );
}

function insertRuns(
  db: D1Database,
  row: NewBulkExport,
  partitions: readonly NewPartition[],
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO export_runs
         (id, workspace_id, export_id, start_time, end_time, status, due_at, created_at, updated_at)
       SELECT value ->> 'id', e.workspace_id, e.id, value ->> 'start', value ->> 'end', 'CREATED',
         e.created_at, e.created_at, e.created_at
       FROM bulk_exports e, json_each(?) WHERE e.workspace_id = ? AND e.id = ?`,
    )
    .bind(JSON.stringify(partitions), row.workspace_id, row.id);
}

export async function selectBulkExport(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<BulkExportRow | undefined> {
  return drizzle(db).select().from(bulkExports).where(isExport(workspaceId, id)).get();
}

/** SQLite does not support an offset without a limit. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Returns exports, newest first. */
export async function listBulkExports(
  db: D1Database,
  workspaceId: string,
  page: { limit?: number | undefined; offset: number },
): Promise<BulkExportRow[]> {
  return drizzle(db)
    .select()
    .from(bulkExports)
    .where(eq(bulkExports.workspace_id, workspaceId))
    .orderBy(desc(bulkExports.created_at), desc(bulkExports.id))
    .limit(page.limit ?? ALL)
    .offset(page.offset);
}

/** Starts exports of a workspace, oldest first, while fewer than `limit` are running. */
export async function startExports(
  db: D1Database,
  workspaceId: string,
  { limit, now }: { limit: number; now: number },
): Promise<void> {
  await db
    .prepare(
      `UPDATE bulk_exports SET status = 'RUNNING', started_at = ?, updated_at = ?
       WHERE workspace_id = ? AND id IN (
         SELECT id FROM bulk_exports
         WHERE workspace_id = ? AND status = 'CREATED' AND interval_hours IS NULL
         ORDER BY created_at, id
         LIMIT max(0, ? - (SELECT count(*) FROM bulk_exports
           WHERE workspace_id = ? AND status = 'RUNNING')))`,
    )
    .bind(now, now, workspaceId, workspaceId, limit, workspaceId)
    .run();
}

/**
 * Ends an export that has not ended yet, together with its unfinished runs. Returns false when it had ended
 * before. Exports that a schedule has spawned continue.
 */
export async function endExport(
  db: D1Database,
  workspaceId: string,
  id: string,
  { status, now }: { status: ExportEnding; now: number },
): Promise<boolean> {
  const [ended] = await db.batch([
    db
      .prepare(
        `UPDATE bulk_exports
         SET status = ?, finished_at = ?, updated_at = ?, next_start = NULL, next_due_at = NULL,
           hold_reason = NULL
         WHERE workspace_id = ? AND id = ? AND status IN ('CREATED', 'RUNNING')`,
      )
      .bind(status, now, now, workspaceId, id),
    db
      .prepare(
        `UPDATE export_runs SET status = ?, finished_at = ?, updated_at = ?
         WHERE workspace_id = ? AND export_id = ? AND status IN ('CREATED', 'RUNNING')
           AND EXISTS (SELECT 1 FROM bulk_exports
             WHERE workspace_id = ? AND id = ? AND status = ?)`,
      )
      .bind(status, now, now, workspaceId, id, workspaceId, id, status),
  ]);
  return ended?.meta.changes === 1;
}

/** Returns running exports that were started at or before `startedBefore`. */
export async function listOverdueExports(
  db: D1Database,
  startedBefore: number,
  limit: number,
): Promise<BulkExportRow[]> {
  return drizzle(db)
    .select()
    .from(bulkExports)
    .where(and(sql`${bulkExports.status} = 'RUNNING'`, lte(bulkExports.started_at, startedBefore)))
    .limit(limit);
}

/** Returns schedules with a due range, in random order, because some of them may have to wait. */
export async function listDueSchedules(
  db: D1Database,
  now: number,
  limit: number,
): Promise<BulkExportRow[]> {
  return drizzle(db)
    .select()
    .from(bulkExports)
    .where(and(lte(bulkExports.next_due_at, now), eq(bulkExports.status, "CREATED")))
    .orderBy(sql`random()`)
    .limit(limit);
}

/** Delays a schedule until `until`, and records the reason. */
export async function holdSchedule(
  db: D1Database,
  schedule: BulkExportRow,
  { reason, until, now }: { reason: string; until: number; now: number },
): Promise<void> {
  await drizzle(db)
    .update(bulkExports)
    .set({
      hold_reason: reason,
      next_due_at: until,
      ...(reason === schedule.hold_reason ? {} : { updated_at: now }),
    })
    .where(isUnchangedSchedule(schedule));
}

export async function releaseSchedule(
  db: D1Database,
  schedule: BulkExportRow,
  now: number,
): Promise<void> {
  await drizzle(db)
    .update(bulkExports)
    .set({ hold_reason: null, updated_at: now })
    .where(isUnchangedSchedule(schedule));
}

/** Whether the schedule has neither spawned an export nor ended since it was read. */
function isUnchangedSchedule({ workspace_id, id, next_start }: BulkExportRow) {
  return and(
    isExport(workspace_id, id),
    eq(bulkExports.status, "CREATED"),
    sql`${bulkExports.next_start} IS ${next_start}`,
  );
}

/**
 * Returns workspaces with exports to start or to continue. The order is random, so that none of many is left out
 * repeatedly.
 */
export async function listExportingWorkspaces(db: D1Database, limit: number): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT workspace_id FROM (
         SELECT workspace_id FROM bulk_exports WHERE status = 'CREATED' AND interval_hours IS NULL
         UNION SELECT workspace_id FROM bulk_exports WHERE status = 'RUNNING')
       ORDER BY random() LIMIT ?`,
    )
    .bind(limit)
    .all<{ workspace_id: string }>();
  return results.map(({ workspace_id }) => workspace_id);
}

/** Returns the number of a schedule's exports that have not ended. */
export async function countUnfinishedSpawned(
  db: D1Database,
  workspaceId: string,
  sourceId: string,
): Promise<number> {
  const counted = await db
    .prepare(
      `SELECT
         (SELECT count(*) FROM bulk_exports
          WHERE workspace_id = ?1 AND status = 'CREATED' AND source_id = ?2)
         + (SELECT count(*) FROM bulk_exports
            WHERE workspace_id = ?1 AND status = 'RUNNING' AND source_id = ?2) AS n`,
    )
    .bind(workspaceId, sourceId)
    .first<{ n: number }>();
  return counted?.n ?? 0;
}

function isExport(workspaceId: string, id: string) {
  return and(eq(bulkExports.workspace_id, workspaceId), eq(bulkExports.id, id));
}
