import { exportRuns } from "./bulk-export-schema.ts";
import { type HeldRow, isChanged, type WorkTable } from "./leases-repo.ts";
import type { ExportFileRow, ExportRunKey } from "./export-runs-repo.ts";

export type RecordedFile = Omit<ExportFileRow, "workspace_id" | "export_run_id">;

/** Export runs as durable work. A new attempt uses the destination's current credentials. */
export const EXPORT_RUN_WORK: WorkTable<ExportRunKey, typeof exportRuns> = {
  table: exportRuns,
  key: { workspaceId: "workspace_id", runId: "id" },
  isOpen: "status = 'RUNNING'",
  onTake: [
    "interruptions = interruptions + (lease IS NOT NULL)",
    "attempt_started_at = COALESCE(attempt_started_at, ?1)",
    `credentials_version = CASE WHEN attempt_started_at IS NOT NULL THEN credentials_version
       ELSE (SELECT d.credentials_version FROM bulk_exports e
         JOIN export_destinations d ON d.workspace_id = e.workspace_id AND d.id = e.destination_id
         WHERE e.workspace_id = export_runs.workspace_id AND e.id = export_runs.export_id) END`,
  ],
};

type HeldRun = HeldRow<ExportRunKey>;

const HELD = "workspace_id = ? AND id = ? AND lease = ? AND status = 'RUNNING'";

function held({ workspaceId, runId, lease }: HeldRun): [string, string, string] {
  return [workspaceId, runId, lease];
}

/** Records the multipart upload that is open now. */
export async function saveOpenUpload(
  db: D1Database,
  key: HeldRun,
  upload: string | null,
): Promise<boolean> {
  return isChanged(
    db.prepare(`UPDATE export_runs SET open_upload = ? WHERE ${HELD}`).bind(upload, ...held(key)),
  );
}

/** Records the file that is about to be completed in the bucket. */
export async function savePendingUpload(
  db: D1Database,
  key: HeldRun,
  pending: string,
): Promise<boolean> {
  return isChanged(
    db
      .prepare(`UPDATE export_runs SET pending_upload = ? WHERE ${HELD}`)
      .bind(pending, ...held(key)),
  );
}

/** Records a completed file, and the position that the run has reached with it. */
export async function recordFile(
  db: D1Database,
  key: HeldRun,
  file: RecordedFile,
  { cursor, now }: { cursor: string; now: number },
): Promise<boolean> {
  const [, updated] = await db.batch([
    db
      .prepare(
        `INSERT INTO export_files
           (workspace_id, export_run_id, number, key, rows, bytes, first_start, last_start)
         SELECT workspace_id, id, ?, ?, ?, ?, ?, ? FROM export_runs WHERE ${HELD}`,
      )
      .bind(
        file.number,
        file.key,
        file.rows,
        file.bytes,
        file.first_start,
        file.last_start,
        ...held(key),
      ),
    db
      .prepare(
        `UPDATE export_runs SET rows_written = rows_written + ?, files_written = files_written + 1,
           latest_cursor = ?, pending_upload = NULL, open_upload = NULL, interruptions = 0,
           updated_at = ?
         WHERE ${HELD}`,
      )
      .bind(file.rows, cursor, now, ...held(key)),
  ]);
  return updated?.meta.changes === 1;
}

/** Completes a run, and its export if this was the last unfinished run. */
export async function completeRun(
  db: D1Database,
  key: HeldRun,
  { exportId, now }: { exportId: string; now: number },
): Promise<{ exportEnded: boolean }> {
  const { workspaceId } = key;
  const [, ended] = await db.batch([
    db
      .prepare(
        `UPDATE export_runs SET status = 'COMPLETED', lease = NULL,
           pending_upload = NULL, finished_at = ?, updated_at = ?
         WHERE ${HELD}`,
      )
      .bind(now, now, ...held(key)),
    db
      .prepare(
        `UPDATE bulk_exports SET status = 'COMPLETED', finished_at = ?, updated_at = ?
         WHERE workspace_id = ? AND id = ? AND status = 'RUNNING'
           AND NOT EXISTS (SELECT 1 FROM export_runs
             WHERE workspace_id = ? AND export_id = ? AND status <> 'COMPLETED')`,
      )
      .bind(now, now, workspaceId, exportId, workspaceId, exportId),
  ]);
  return { exportEnded: ended?.meta.changes === 1 };
}

/** Ends a failed attempt. The next one is due at `dueAt` and continues from the recorded position. */
export async function retryRun(
  db: D1Database,
  key: HeldRun,
  { error, dueAt, now }: { error: string; dueAt: number; now: number },
): Promise<boolean> {
  return isChanged(
    db
      .prepare(
        `UPDATE export_runs SET ${ADD_ERROR}, retry_number = retry_number + 1, due_at = ?,
           attempt_started_at = NULL, interruptions = 0, lease = NULL,
           updated_at = ?
         WHERE ${HELD}`,
      )
      .bind(error, dueAt, now, ...held(key)),
  );
}

const ADD_ERROR = "errors = json_set(COALESCE(errors, '{}'), '$.retry_' || retry_number, ?)";

/**
 * Ends a run that cannot succeed. Its export fails with it, and the export's other unfinished runs are cancelled.
 */
export async function failRun(
  db: D1Database,
  key: HeldRun,
  { exportId, error, now }: { exportId: string; error: string; now: number },
): Promise<void> {
  const { workspaceId, runId } = key;
  await db.batch([
    db
      .prepare(
        `UPDATE export_runs SET ${ADD_ERROR}, status = 'FAILED', lease = NULL,
           finished_at = ?, updated_at = ?
         WHERE ${HELD}`,
      )
      .bind(error, now, now, ...held(key)),
    db
      .prepare(
        `UPDATE bulk_exports SET status = 'FAILED', finished_at = ?, updated_at = ?
         WHERE workspace_id = ? AND id = ? AND status = 'RUNNING'
           AND EXISTS (SELECT 1 FROM export_runs
             WHERE workspace_id = ? AND id = ? AND status = 'FAILED')`,
      )
      .bind(now, now, workspaceId, exportId, workspaceId, runId),
    db
      .prepare(
        `UPDATE export_runs SET status = 'CANCELLED', finished_at = ?, updated_at = ?
         WHERE workspace_id = ? AND export_id = ? AND status IN ('CREATED', 'RUNNING')
           AND EXISTS (SELECT 1 FROM bulk_exports
             WHERE workspace_id = ? AND id = ? AND status = 'FAILED')`,
      )
      .bind(now, now, workspaceId, exportId, workspaceId, exportId),
  ]);
}
