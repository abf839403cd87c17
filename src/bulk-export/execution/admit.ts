import { startExports } from "../../db/bulk-exports-repo.ts";
import { startRuns, type ExportRunKey } from "../../db/export-runs-repo.ts";
import { parseSettings } from "../../env.ts";
import { planQuota } from "../../identity/plan-quotas.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import { log } from "../../lib/log.ts";

/** What one call to the queue takes. */
const MESSAGES_PER_BATCH = 100;

/** Begins as many of a workspace's waiting exports and export runs as its limits allow. */
export async function admitExports(env: Env, workspaceId: string): Promise<void> {
  const settings = parseSettings(env);
  const { runs_per_export } = settings.exportLimits;
  const now = Date.now();
  const { exports_at_once } = planQuota(settings, await workspacePlan(env, workspaceId));
  await startExports(env.DB, workspaceId, { limit: exports_at_once, now });
  await nudge(env, await startRuns(env.DB, workspaceId, { limit: runs_per_export, now }));
}

/** Begins as many of an export's waiting runs as its limit allows. */
export async function admitRuns(env: Env, workspaceId: string, exportId: string): Promise<void> {
  const { runs_per_export } = parseSettings(env).exportLimits;
  const options = { exportId, limit: runs_per_export, now: Date.now() };
  await nudge(env, await startRuns(env.DB, workspaceId, options));
}

/**
 * Asks for these export runs to be looked at. A message that is lost, or cannot be sent, delays them
 * until the next sweep.
 */
export async function nudge(
  env: Env,
  runs: readonly ExportRunKey[],
  delaySeconds = 0,
): Promise<void> {
  for (let from = 0; from < runs.length; from += MESSAGES_PER_BATCH) {
    const batch = runs.slice(from, from + MESSAGES_PER_BATCH);
    try {
      await env.EXPORT_STEPS.sendBatch(batch.map((body) => ({ body, delaySeconds })));
    } catch (error) {
      log(parseSettings(env).logLevel, "warn", {
        event: "export_nudge_failed",
        runs: batch.length,
        error: String(error),
      });
    }
  }
}
