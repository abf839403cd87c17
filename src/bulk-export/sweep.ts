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
import { spawnDue } from "./execution/schedule.ts";

const SCHEDULES_PER_SWEEP = 100;
const EXPORTS_PER_SWEEP = 100;
const WORKSPACES_PER_SWEEP = 1000;
const RUNS_PER_SWEEP = 1000;

/** Once a minute: what time alone makes due, and what a crash or a lost message has left undone. */
export async function sweepExports(env: Env, now: number): Promise<void> {
  const tasks = [
    endOverdue,
    spawnAllDue,
    admitWaiting,
    nudgeDue,
    () => resealCredentials(env),
    () => deleteUnusedCredentials(env.DB),
  ];
  for (const task of tasks) {
    try {
      await task(env, now);
    } catch (error) {
      // The others are not to wait for it.
      log(parseSettings(env).logLevel, "error", {
        event: "export_sweep_failed",
        error: String(error),
      });
    }
  }
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
    await spawnDue(env, schedule, exportLimits, now);
  }
}

async function admitWaiting(env: Env): Promise<void> {
  for (const workspaceId of await listExportingWorkspaces(env.DB, WORKSPACES_PER_SWEEP)) {
    await admitExports(env, workspaceId);
  }
}

/** Those that were begun just now have their messages, and are due later than `now`. */
async function nudgeDue(env: Env, now: number): Promise<void> {
  await nudge(env, await listDueRuns(env.DB, now, RUNS_PER_SWEEP));
}
