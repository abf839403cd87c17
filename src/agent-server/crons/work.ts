import { CRON_WORK, type CronKey, type CronRow, noteTick } from "../../db/crons-repo.ts";
import { listDue } from "../../db/leases-repo.ts";
import type { SweepTask } from "../../work/sweep.ts";
import { findActiveRevision } from "../../db/deployment-lookup-repo.ts";
import { parseSettings } from "../../env.ts";
import { ApiError, type ErrorCode, ProjectRefusal } from "../../lib/api-error.ts";
import { log } from "../../lib/log.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../../lib/scope.ts";
import { Lease } from "../../work/lease.ts";
import type { AgentCall } from "../agent-call.ts";
import { prepareRun, startRun } from "../threads/new-run.ts";
import type { RunCreateBody } from "../threads/run-schemas.ts";
import { principalOf } from "./schemas.ts";
import { nextTick } from "./schedule.ts";

/** Maximum runs per sweep: each takes several calls, of which an invocation may make a few thousand. */
const RUNS_PER_SWEEP = 500;

/** Returns the sweep that creates the runs of crons whose ticks are due, those that have waited longest first. */
export function cronSweep(exports: Cloudflare.Exports): readonly SweepTask[] {
  return [
    {
      name: "make_cron_runs",
      rows: RUNS_PER_SWEEP,
      run: async ({ env, now, rows, each }) =>
        each(await listDue(env.DB, CRON_WORK, now, rows), (key) => makeDueRun(env, exports, key)),
    },
  ];
}

/** After this time another sweep takes over from one that has died. */
const LEASE_MS = 60_000;

/** Error codes that may not occur again a minute later. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  "internal",
  "unavailable",
  "timed_out",
  "insufficient_storage",
]);

/**
 * Creates the run of a cron's tick if one is due, and records the next tick: the first one from now on, so that an
 * outage that missed several ticks is followed by a single run. The run's id is derived from the tick, so that a
 * sweep that dies before recording the next tick can be repeated without creating a second run.
 */
export async function makeDueRun(
  env: Env,
  exports: Cloudflare.Exports,
  key: CronKey,
): Promise<void> {
  const taken = await Lease.take(env.DB, CRON_WORK, key, LEASE_MS);
  if (taken === null) return;
  const { lease, row } = taken;
  try {
    await makeRun(env, exports, row);
    const now = Date.now();
    await noteTick(env.DB, lease.held, nextTick(row, now), now);
  } finally {
    lease.stop();
  }
}

/** Throws for a temporary failure, so that the next sweep tries again. Any other failure skips the tick. */
async function makeRun(env: Env, exports: Cloudflare.Exports, row: CronRow): Promise<void> {
  const at = row.next_run_at;
  if (at === null) return;
  try {
    const call = await callOf(env, exports, row);
    const { thread_id: threadId, on_run_completed } = row;
    const options = {
      follow: "none",
      threadId,
      createThread: threadId === null,
      temporary: threadId === null && on_run_completed !== "keep",
      tick: { cronId: row.cron_id, at },
    } as const;
    await startRun(await prepareRun(call, bodyOf(row), options));
  } catch (error) {
    if (isPassing(error)) throw error;
    log(parseSettings(env).logLevel, "warn", {
      event: "cron_tick_left_out",
      workspace_id: row.workspace_id,
      deployment_id: row.deployment_id,
      cron_id: row.cron_id,
      reason: String(error),
    });
  }
}

/** Returns a call on behalf of the principal who created the cron, with the revision that is serving now. */
async function callOf(env: Env, exports: Cloudflare.Exports, row: CronRow): Promise<AgentCall> {
  const scope: Scope = { workspaceId: row.workspace_id, deploymentId: row.deployment_id };
  const call = { env, ctx: { exports }, scope, principal: principalOf(row) };
  if (scope.deploymentId === DEFAULT_DEPLOYMENT_ID) return { ...call, revision: null };
  const revisionId = await findActiveRevision(env.DB, scope);
  if (revisionId === null) {
    throw new ApiError("conflict", "The deployment has no revision that is deployed");
  }
  return { ...call, revision: { ...scope, revisionId } };
}

function bodyOf(row: CronRow): RunCreateBody {
  const metadata = { ...JSON.parse(row.metadata), cron_id: row.cron_id };
  return { ...JSON.parse(row.payload), assistant_id: row.assistant_id, metadata };
}

function isPassing(error: unknown): boolean {
  if (error instanceof ProjectRefusal) return error.status >= 500;
  return !(error instanceof ApiError) || PASSING.has(error.code);
}
