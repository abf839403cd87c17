import { selectBulkExport, type BulkExportRow } from "../../db/bulk-exports-repo.ts";
import {
  selectAnyExportDestination,
  type ExportDestinationRow,
} from "../../db/export-destinations-repo.ts";
import {
  listExportFiles,
  listExportRuns,
  listSpawnedRuns,
  selectExportRun,
  type ExportRunRow,
} from "../../db/export-runs-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { requireExport } from "./export-service.ts";
import type { ExportRunJson } from "./schemas.ts";
import { toExportRun } from "./export-json.ts";

/** The runs of an export, in the order of their days. */
export async function findExportRuns(
  c: AppContext,
  exportId: string,
  page: { limit?: number | undefined; offset: number },
): Promise<ExportRunJson[]> {
  const bulkExport = await requireExport(c, exportId);
  const runs = await listExportRuns(c.env.DB, bulkExport.workspace_id, exportId, page);
  return withFiles(c, runs, bulkExport);
}

export async function requireExportRun(
  c: AppContext,
  exportId: string,
  runId: string,
): Promise<ExportRunJson> {
  const bulkExport = await requireExport(c, exportId);
  const run = await selectExportRun(c.env.DB, bulkExport.workspace_id, exportId, runId);
  const [json] = run === undefined ? [] : await withFiles(c, [run], bulkExport);
  if (json === undefined) throw new ApiError("not_found", "Bulk export run not found");
  return json;
}

/** The runs of all exports of a schedule. */
export async function findSpawnedRuns(
  c: AppContext,
  query: { source_bulk_export_id: string; limit?: number | undefined; offset: number },
): Promise<ExportRunJson[]> {
  const { workspaceId } = c.var.scope;
  const schedule = await selectBulkExport(c.env.DB, workspaceId, query.source_bulk_export_id);
  if (schedule === undefined) throw new ApiError("not_found", "Bulk export not found");
  const runs = await listSpawnedRuns(c.env.DB, workspaceId, schedule.id, query);
  // Spawned exports have the schedule's project, format and destination.
  return withFiles(c, runs, schedule);
}

async function withFiles(
  c: AppContext,
  runs: readonly ExportRunRow[],
  bulkExport: BulkExportRow,
): Promise<ExportRunJson[]> {
  const { workspace_id: workspaceId } = bulkExport;
  const [files, destination] = await Promise.all([
    listExportFiles(
      c.env.DB,
      workspaceId,
      runs.map(({ id }) => id),
    ),
    requireDestination(c.env.DB, bulkExport),
  ]);
  const filesOf = Map.groupBy(files, (file) => file.export_run_id);
  return runs.map((run) => toExportRun(run, filesOf.get(run.id) ?? [], bulkExport, destination));
}

/** Exports that have ended outlive their destination, whose row stays. */
async function requireDestination(
  db: D1Database,
  { workspace_id, destination_id }: BulkExportRow,
): Promise<ExportDestinationRow> {
  const row = await selectAnyExportDestination(db, workspace_id, destination_id);
  if (row === undefined) throw new Error(`destination ${destination_id} has no row`);
  return row;
}
