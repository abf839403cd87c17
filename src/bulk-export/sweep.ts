import {
  endExport,
  listDueSchedules,
  listExportingWorkspaces,
  listOverdueExports,
} from "../db/bulk-exports-repo.ts";
import { deleteUnusedCredentials } from "../db/export-destinations-repo.ts";
import { listDueRuns } from "../db/export-runs-repo.ts";
import { parseSettings } from "../env.ts";
import { log } from "../lib/log.ts";
import { resealCredentials } from "./destinations/reseal.ts";
import { admitExports, nudge } from "./execution/admit.ts";
import { abortLeftUploads } from "./execution/left-uploads.ts";
import { spawnDue } from "./execution/schedule.ts";

/** An invocation may make some thousand calls: these are some hundred together. */
const SCHEDULES_PER_SWEEP = 100;
const EXPORTS_PER_SWEEP = 50;
const WORKSPACES_PER_SWEEP = 100;
const RUNS_PER_SWEEP = 1000;

/** Once a minute: what time alone makes due, and what a crash or a lost message has left undone. */
export async function sweepExports(env: Env, now: number): Promise<void> {
  await attempt(env, () => nudgeDue(env, now));
  await attempt(env, () => endOverdue(env, now));
  await attempt(env, () => spawnAllDue(env, now));
  await attempt(env, () => admitWaiting(env));
  await attempt(env, () => abortLeftUploads(env));
  await attempt(env, () => resealCredentials(env));
  await attempt(env, () => deleteUnusedCredentials(env.DB));
}

/** What fails is left to the next minute, and keeps nothing else from being done. */
async function attempt(env: Env, task: () => Promise<unknown>): Promise<void> {
  try {
    await task();
  } catch (error) {
    log(parseSettings(env).logLevel, "error", {
      event: "export_sweep_failed",
      error: String(error),
    });
  }
}

async function nudgeDue(env: Env, now: number): Promise<void> {
  await nudge(env, await listDueRuns(env.DB, now, RUNS_PER_SWEEP));
}

async function endOverdue(env: Env, now: number): Promise<void> {
  const { export_timeout_seconds } = parseSettings(env).exportLimits;
  const startedBefore = now - export_timeout_seconds * 1000;
  for (const overdue of await listOverdueExports(env.DB, startedBefore, EXPORTS_PER_SWEEP)) {
    await endExport(env.DB, overdue.workspace_id, overdue.id, { status: "TIMEDOUT", now });
  }
}

async function spawnAllDue(env: Env, now: number): Promise<void> {
  const { exportLimits } = parseSettings(env);
  for (const schedule of await listDueSchedules(env.DB, now, SCHEDULES_PER_SWEEP)) {
    await attempt(env, () => spawnDue(env, schedule, exportLimits, now));
  }
}

async function admitWaiting(env: Env): Promise<void> {
  for (const workspaceId of await listExportingWorkspaces(env.DB, WORKSPACES_PER_SWEEP)) {
    await attempt(env, () => admitExports(env, workspaceId));
  }
}
