import { v7 as uuid } from "uuid";
import {
  countUnfinishedSpawned,
  endExport,
  holdSchedule,
  insertSpawnedExport,
  releaseSchedule,
  type BulkExportRow,
} from "../../db/bulk-exports-repo.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import type { ExportLimits } from "../export-limits.ts";
import { exportRefusal } from "../export-plan.ts";
import { findExportProject } from "../../tracing/export.ts";
import { newPartitions, type TimeRange } from "./partitions.ts";

const MICROS_PER_HOUR = 3_600_000_000;

/** How long after a schedule was held it is looked at again. */
const HOLD_MS = 10 * 60_000;

/** When the export of a schedule's range is due, in epoch milliseconds. */
export function dueAt(start: number, intervalHours: number, limits: ExportLimits): number {
  const end = start + intervalHours * MICROS_PER_HOUR;
  return Math.ceil(end / 1000) + limits.schedule_delay_seconds * 1000;
}

/**
 * Spawns the exports of a schedule that are due by `now`, each as an export of its own that begins
 * where the one before ended. Not more than some at a time: what the workspace asks for meanwhile is
 * not to wait for a long back-fill.
 */
export async function spawnDue(
  env: Env,
  schedule: BulkExportRow,
  limits: ExportLimits,
  now: number,
): Promise<void> {
  const { interval_hours: hours, next_start: first, workspace_id: workspaceId } = schedule;
  if (hours === null || first === null) return;
  if (!(await findExportProject(env, workspaceId, schedule.project_id))) {
    // There will never be anything to export again.
    await endExport(env.DB, workspaceId, schedule.id, { status: "CANCELLED", now });
    return;
  }
  const refusal = exportRefusal(await workspacePlan(env, workspaceId));
  if (refusal !== null) {
    // What it misses meanwhile is exported when the plan allows it again.
    await holdSchedule(env.DB, schedule, { reason: refusal, until: now + HOLD_MS, now });
    return;
  }
  if (schedule.hold_reason !== null) await releaseSchedule(env.DB, schedule, now);
  let start = first;
  let room =
    limits.spawned_at_once - (await countUnfinishedSpawned(env.DB, workspaceId, schedule.id));
  while (room > 0 && dueAt(start, hours, limits) <= now) {
    const end = start + hours * MICROS_PER_HOUR;
    const inserted = await insertSpawnedExport(
      env.DB,
      spawnedExport(schedule, { start, end }, now),
      newPartitions({ start, end }),
      { start: end, dueAt: dueAt(end, hours, limits) },
    );
    // Another one spawns at the same time, or the schedule was cancelled.
    if (!inserted) break;
    start = end;
    room -= 1;
  }
}

function spawnedExport(schedule: BulkExportRow, range: TimeRange, now: number) {
  const {
    updated_at: _,
    started_at: __,
    finished_at: ___,
    hold_reason: ____,
    ...fields
  } = schedule;
  return {
    ...fields,
    id: uuid(),
    source_id: schedule.id,
    start_time: range.start,
    end_time: range.end,
    interval_hours: null,
    next_start: null,
    next_due_at: null,
    status: "CREATED" as const,
    created_at: now,
  };
}
