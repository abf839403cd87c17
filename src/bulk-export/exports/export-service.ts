import { v7 as uuid } from "uuid";
import {
  type BulkExportRow,
  endExport,
  insertBulkExport,
  listBulkExports,
  type NewBulkExport,
  selectBulkExport,
} from "../../db/bulk-exports-repo.ts";
import {
  type ExportDestinationRow,
  selectAnyExportDestination,
  selectExportDestination,
} from "../../db/export-destinations-repo.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { MICROS_PER_DAY } from "../../lib/utc-day.ts";
import { checkExportFilter } from "../../tracing/export.ts";
import type { ExportLimits } from "../export-limits.ts";
import { dueAt } from "../execution/schedule.ts";
import { newPartitions } from "../execution/partitions.ts";
import { EXPORT_FIELDS } from "../parquet/columns.ts";
import { type ExportCreateBody, type ExportRunJson, toExportRunJson } from "./schemas.ts";
import {
  listExportFiles,
  listExportRuns,
  listSpawnedRuns,
  selectExportRun,
  type ExportRunRow,
} from "../../db/export-runs-repo.ts";

/** The dependencies of export services for a request of a workspace. Each function takes those that it uses. */
export type ExportDeps = {
  db: D1Database;
  workspaceId: string;
  limits: ExportLimits;
  /** Whether the workspace has a tracing project that can be exported. */
  hasProject: (projectId: string) => Promise<boolean>;
  /** Spawns the due exports of a schedule. */
  spawnDue: (schedule: BulkExportRow, now: number) => Promise<void>;
  /** Starts waiting exports, as far as the workspace's limits allow. */
  startWaiting: () => Promise<void>;
  /** Starts the exports that the end of another one makes room for. */
  startFollowing: (ended: BulkExportRow) => Promise<void>;
};

type Reading = Pick<ExportDeps, "db" | "workspaceId">;

/** Stores the requested export, and starts it if the workspace's limits allow. */
export async function createExport(
  deps: ExportDeps,
  body: ExportCreateBody,
): Promise<BulkExportRow> {
  const { db, workspaceId, limits } = deps;
  const range = readRange(body, limits.days_per_export);
  checkFilter(body.filter);
  const [destination, hasProject] = await Promise.all([
    selectExportDestination(db, workspaceId, body.bulk_export_destination_id),
    deps.hasProject(body.session_id),
  ]);
  if (destination === undefined) throw new ApiError("not_found", "Destination not found");
  if (!hasProject) throw new ApiError("not_found", "Session not found");

  const now = Date.now();
  const { start, end, intervalHours } = range;
  const row: NewBulkExport = {
    id: uuid(),
    workspace_id: workspaceId,
    destination_id: destination.id,
    project_id: body.session_id,
    start_time: start,
    end_time: end,
    filter: body.filter ?? null,
    format_version: body.format_version ?? "v1",
    compression: body.compression ?? "gzip",
    export_fields: body.export_fields == null ? null : JSON.stringify(inOrder(body.export_fields)),
    interval_hours: intervalHours,
    source_id: null,
    status: "CREATED",
    next_start: intervalHours === null ? null : start,
    next_due_at: intervalHours === null ? null : dueAt(start, intervalHours, limits),
    created_at: now,
  };
  const partitions = end === null ? [] : newPartitions({ start, end });
  if (!(await insertBulkExport(db, row, partitions))) {
    throw new ApiError("not_found", "Destination not found");
  }
  if (intervalHours !== null) {
    const schedule = {
      ...row,
      hold_reason: null,
      updated_at: now,
      started_at: null,
      finished_at: null,
    };
    await deps.spawnDue(schedule, now);
  }
  await deps.startWaiting();
  return requireExport(deps, row.id);
}

export async function findExports(
  { db, workspaceId }: Reading,
  page: { limit?: number | undefined; offset: number },
): Promise<BulkExportRow[]> {
  return listBulkExports(db, workspaceId, page);
}

/** Throws a 404 when the workspace has no export with this id. */
export async function requireExport(
  { db, workspaceId }: Reading,
  id: string,
): Promise<BulkExportRow> {
  const row = await selectBulkExport(db, workspaceId, id);
  if (row === undefined) throw new ApiError("not_found", "Bulk export not found");
  return row;
}

/**
 * Cancels an export or a schedule; cancelling it again changes nothing. Throws a 409 when it has ended otherwise.
 */
export async function cancelExport(
  deps: Pick<ExportDeps, "db" | "workspaceId" | "startFollowing">,
  id: string,
): Promise<BulkExportRow> {
  const { db, workspaceId } = deps;
  await requireExport(deps, id);
  const now = Date.now();
  const cancelled = await endExport(db, workspaceId, id, { status: "CANCELLED", now });
  const row = await requireExport(deps, id);
  if (cancelled) await deps.startFollowing(row);
  if (row.status === "CANCELLED") return row;
  throw new ApiError("conflict", `The export is ${row.status} and cannot be cancelled any more`);
}

type Range = { start: number; end: number | null; intervalHours: number | null };

function readRange(body: ExportCreateBody, maxDays: number): Range {
  const { start_time: start, end_time: end = null, interval_hours: intervalHours = null } = body;
  if (intervalHours !== null) {
    if (end !== null) {
      throw refused("end_time", "A schedule has no end: leave out end_time, or interval_hours");
    }
    // Each interval since the start becomes an export, so the number of intervals is limited.
    if (start < Date.now() * 1000 - maxDays * MICROS_PER_DAY) {
      throw refused("start_time", `A schedule should begin at most ${maxDays} days ago`);
    }
    return { start, end, intervalHours };
  }
  if (end === null) {
    throw refused("end_time", "Field required, unless interval_hours makes it a schedule");
  }
  if (end <= start) throw refused("end_time", "Input should be after start_time");
  if (end - start > maxDays * MICROS_PER_DAY) {
    throw refused("end_time", `The range should span at most ${maxDays} days`);
  }
  return { start, end, intervalHours };
}

function checkFilter(filter: string | null | undefined): void {
  const problem = filter == null ? null : checkExportFilter(filter);
  if (problem !== null) throw refused("filter", problem);
}

function refused(field: string, message: string): ApiError {
  return invalidField(["body", field], message, "value_error");
}

/** Returns each field once, in the order of the files' columns. */
function inOrder(fields: readonly string[]): string[] {
  return EXPORT_FIELDS.filter((field) => fields.includes(field));
}

/** Returns the runs of an export, in the order of their days. */
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

/** Returns the runs of all exports of a schedule. */
export async function findSpawnedRuns(
  deps: Reading,
  query: { source_bulk_export_id: string; limit?: number | undefined; offset: number },
): Promise<ExportRunJson[]> {
  const { workspaceId } = deps;
  const schedule = await selectBulkExport(deps.db, workspaceId, query.source_bulk_export_id);
  if (schedule === undefined) throw new ApiError("not_found", "Bulk export not found");
  const runs = await listSpawnedRuns(deps.db, workspaceId, schedule.id, query);
  // Spawned exports have the project, format and destination of their schedule.
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

/** Returns the destination of an export, even if it was deleted after the export: its row is kept. */
async function requireDestination(
  db: D1Database,
  { workspace_id, destination_id }: BulkExportRow,
): Promise<ExportDestinationRow> {
  const row = await selectAnyExportDestination(db, workspace_id, destination_id);
  if (row === undefined) throw new Error(`destination ${destination_id} has no row`);
  return row;
}
