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
import { ApiError } from "../../lib/api-error.ts";
import { type ExportDeps, requireExport } from "./export-service.ts";
import type { ExportRunJson } from "./schemas.ts";
import { toExportRunJson } from "./export-json.ts";

type Reading = Pick<ExportDeps, "db" | "workspaceId">;

/** The runs of an export, in the order of their days. */
export async function findExportRuns(
  deps: Reading,
  exportId: string,
  page: { limit?: number | undefined; offset: number },
): Promise<ExportRunJson[]> {
  const bulkExport = await requireExport(deps, exportId);
  const runs = await listExportRuns(deps.db, bulkExport.workspace_id, exportId, page);
  return withFiles(deps, runs, bulkExport);
}

export async function requireExportRun(
  deps: Reading,
  exportId: string,
  runId: string,
): Promise<ExportRunJson> {
  const bulkExport = await requireExport(deps, exportId);
  const run = await selectExportRun(deps.db, bulkExport.workspace_id, exportId, runId);
  const [json] = run === undefined ? [] : await withFiles(deps, [run], bulkExport);
  if (json === undefined) throw new ApiError("not_found", "Bulk export run not found");
  return json;
}

/** The runs of all exports of a schedule. */
export async function findSpawnedRuns(
  deps: Reading,
  query: { source_bulk_export_id: string; limit?: number | undefined; offset: number },
): Promise<ExportRunJson[]> {
  const { workspaceId } = deps;
  const schedule = await selectBulkExport(deps.db, workspaceId, query.source_bulk_export_id);
  if (schedule === undefined) throw new ApiError("not_found", "Bulk export not found");
  const runs = await listSpawnedRuns(deps.db, workspaceId, schedule.id, query);
  // Spawned exports have the schedule's project, format and destination.
  return withFiles(deps, runs, schedule);
}

async function withFiles(
  deps: Reading,
  runs: readonly ExportRunRow[],
  bulkExport: BulkExportRow,
): Promise<ExportRunJson[]> {
  const { workspace_id: workspaceId } = bulkExport;
  const [files, destination] = await Promise.all([
    listExportFiles(
      deps.db,
      workspaceId,
      runs.map(({ id }) => id),
    ),
    requireDestination(deps.db, bulkExport),
  ]);
  const filesOf = Map.groupBy(files, (file) => file.export_run_id);
  return runs.map((run) =>
    toExportRunJson(run, filesOf.get(run.id) ?? [], bulkExport, destination),
  );
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
