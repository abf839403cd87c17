import { v7 as uuid } from "uuid";
import {
  endExport,
  insertBulkExport,
  listBulkExports,
  selectBulkExport,
  type BulkExportRow,
  type NewBulkExport,
} from "../../db/bulk-exports-repo.ts";
import { selectExportDestination } from "../../db/export-destinations-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { checkExportFilter, findExportProject } from "../../tracing/export.ts";
import { admitExports } from "../execution/admit.ts";
import { goOnAfter } from "../execution/after-end.ts";
import { newPartitions } from "../execution/partitions.ts";
import { dueAt, spawnDue } from "../execution/schedule.ts";
import { EXPORT_FIELDS } from "../parquet/columns.ts";
import type { ExportCreateBody } from "./schemas.ts";

const MICROS_PER_DAY = 86_400_000_000;

/** Stores what was asked for, and begins it when the workspace's limits allow. */
export async function createExport(c: AppContext, body: ExportCreateBody): Promise<BulkExportRow> {
  const { workspaceId } = c.var.scope;
  const { exportLimits } = c.var.settings;
  const range = readRange(body, exportLimits.days_per_export);
  checkFilter(body.filter);
  const [destination, hasProject] = await Promise.all([
    selectExportDestination(c.env.DB, workspaceId, body.bulk_export_destination_id),
    findExportProject(c.env, workspaceId, body.session_id),
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
    next_due_at: intervalHours === null ? null : dueAt(start, intervalHours, exportLimits),
    created_at: now,
  };
  const partitions = end === null ? [] : newPartitions({ start, end });
  if (!(await insertBulkExport(c.env.DB, row, partitions))) {
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
    await spawnDue(c.env, schedule, exportLimits, now);
  }
  await admitExports(c.env, workspaceId);
  return requireExport(c, row.id);
}

export async function findExports(
  c: AppContext,
  page: { limit?: number | undefined; offset: number },
): Promise<BulkExportRow[]> {
  return listBulkExports(c.env.DB, c.var.scope.workspaceId, page);
}

export async function requireExport(c: AppContext, id: string): Promise<BulkExportRow> {
  const row = await selectBulkExport(c.env.DB, c.var.scope.workspaceId, id);
  if (row === undefined) throw new ApiError("not_found", "Bulk export not found");
  return row;
}

/** Cancels an export, or a schedule; once more changes nothing, and what has ended stays so: 409. */
export async function cancelExport(c: AppContext, id: string): Promise<BulkExportRow> {
  const { workspaceId } = c.var.scope;
  await requireExport(c, id);
  const now = Date.now();
  const cancelled = await endExport(c.env.DB, workspaceId, id, { status: "CANCELLED", now });
  const row = await requireExport(c, id);
  if (cancelled) await goOnAfter(c.env, row);
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
    // Each interval since then would be an export of its own.
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

/** Each once, as the columns of the files are ordered. */
function inOrder(fields: readonly string[]): string[] {
  return EXPORT_FIELDS.filter((field) => fields.includes(field));
}
