import { type BulkExportRow, selectBulkExport, startExports } from "../../db/bulk-exports-repo.ts";
import { type ExportRunKey, startRuns } from "../../db/export-runs-repo.ts";
import { parseSettings } from "../../env.ts";
import { planQuota } from "../../identity/plan-quotas.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import { nudge } from "../../work/queue.ts";
import { spawnDue } from "./schedule.ts";

/** Begins as many of a workspace's waiting exports and export runs as its limits allow. */
export async function startWaiting(env: Env, workspaceId: string): Promise<void> {
  const settings = parseSettings(env);
  const { runs_per_export } = settings.exportLimits;
  const now = Date.now();
  const { exports_at_once } = planQuota(settings, await workspacePlan(env, workspaceId));
  await startExports(env.DB, workspaceId, { limit: exports_at_once, now });
  await nudgeRuns(env, await startRuns(env.DB, workspaceId, { limit: runs_per_export, now }));
}

/** Begins as many of an export's waiting runs as its limit allows. */
export async function startWaitingRuns(
  env: Env,
  workspaceId: string,
  exportId: string,
): Promise<void> {
  const { runs_per_export } = parseSettings(env).exportLimits;
  const options = { exportId, limit: runs_per_export, now: Date.now() };
  await nudgeRuns(env, await startRuns(env.DB, workspaceId, options));
}

/** Begins what the end of an export makes room for: the next ranges of its schedule, and exports that wait. */
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

/** Asks for export runs to be looked at. It never fails: what no message tells of, the sweep finds. */
export function nudgeRuns(
  env: Env,
  runs: readonly ExportRunKey[],
  delaySeconds = 0,
): Promise<void> {
  const messages = runs.map(({ workspaceId, runId }) => ({ workspaceId, runId }));
  return nudge(env, env.EXPORT_STEPS, messages, delaySeconds * 1000);
}
