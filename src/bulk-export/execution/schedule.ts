import { v7 as uuid } from "uuid";
import {
  type BulkExportRow,
  countUnfinishedSpawned,
  endExport,
  holdSchedule,
  insertSpawnedExport,
  releaseSchedule,
  selectBulkExport,
  startExports,
} from "../../db/bulk-exports-repo.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import type { ExportLimits } from "../export-limits.ts";
import { exportRefusal } from "../export-plan.ts";
import { findExportProject } from "../../tracing/export.ts";
import { type TimeRange, newPartitions } from "./partitions.ts";
import { type ExportRunKey, startRuns } from "../../db/export-runs-repo.ts";
import { parseSettings } from "../../env.ts";
import { planQuota } from "../../identity/plan-quotas.ts";
import { nudge } from "../../work/queue.ts";

const MICROS_PER_HOUR = 3_600_000_000;

/** Milliseconds until a held schedule is looked at again. */
const HOLD_MS = 10 * 60_000;

/** Returns the time at which the export of a schedule's range is due, in epoch milliseconds. */
export function dueAt(start: number, intervalHours: number, limits: ExportLimits): number {
  const end = start + intervalHours * MICROS_PER_HOUR;
  return Math.ceil(end / 1000) + limits.schedule_delay_seconds * 1000;
}

/**
 * Spawns the exports of a schedule that are due by `now`. Each is a separate export that begins where the previous
 * one ended. The number of unfinished ones is limited, so that the workspace's other exports do not wait for a
 * long back-fill.
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
    // The project is gone, so there will never be anything to export again.
    await endExport(env.DB, workspaceId, schedule.id, { status: "CANCELLED", now });
    return;
  }
  const refusal = exportRefusal(await workspacePlan(env, workspaceId));
  if (refusal !== null) {
    // The missed ranges are exported when the plan allows it again.
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
    // Another process spawns at the same time, or the schedule was cancelled.
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

/** Starts as many of a workspace's waiting exports and export runs as its limits allow. */
export async function startWaiting(env: Env, workspaceId: string): Promise<void> {
  const settings = parseSettings(env);
  const { runs_per_export } = settings.exportLimits;
  const now = Date.now();
  const { exports_at_once } = planQuota(settings, await workspacePlan(env, workspaceId));
  await startExports(env.DB, workspaceId, { limit: exports_at_once, now });
  await nudgeRuns(env, await startRuns(env.DB, workspaceId, { limit: runs_per_export, now }));
}

/** Starts as many of an export's waiting runs as its limit allows. */
export async function startWaitingRuns(
  env: Env,
  workspaceId: string,
  exportId: string,
): Promise<void> {
  const { runs_per_export } = parseSettings(env).exportLimits;
  const options = { exportId, limit: runs_per_export, now: Date.now() };
  await nudgeRuns(env, await startRuns(env.DB, workspaceId, options));
}

/** Starts what the end of an export makes room for: the next ranges of its schedule, and waiting exports. */
export async function startFollowing(
  env: Env,
  ended: Pick<BulkExportRow, "workspace_id" | "source_id">,
): Promise<void> {
  const { workspace_id: workspaceId, source_id: sourceId } = ended;
  if (sourceId !== null) {
    const schedule = await selectBulkExport(env.DB, workspaceId, sourceId);
    const { exportLimits } = parseSettings(env);
    if (schedule !== undefined) await spawnDue(env, schedule, exportLimits, Date.now());
  }
  await startWaiting(env, workspaceId);
}

/**
 * Sends messages that make export runs be looked at. Never rejects: the sweep finds runs whose message was lost.
 */
export function nudgeRuns(
  env: Env,
  runs: readonly ExportRunKey[],
  delaySeconds = 0,
): Promise<void> {
  const messages = runs.map(({ workspaceId, runId }) => ({ workspaceId, runId }));
  return nudge(env, env.EXPORT_STEPS, messages, delaySeconds * 1000);
}
