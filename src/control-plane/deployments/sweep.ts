import {
  forgetDeployment,
  listPurgedDeployments,
  listWaitingDeletions,
} from "../../db/deployments-repo.ts";
import { forgetSources, releaseUnusedSources } from "../../db/source-uploads-repo.ts";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { resealDeployments } from "./reseal.ts";
import { requestRollout } from "./rollout/request-rollout.ts";
import { removeContent } from "./delete-deployment.ts";

/** A deletion that nobody has worked on for this long has lost its message. */
const WAITING_MS = 60_000;

/** What is under way when a deployment is deleted may write for a while. */
const PURGED_MS = 10 * 60_000;

/** Of tarballs that no revision names; their upload URL is not good for as long. */
const UNUSED_SOURCE_MS = 24 * 3_600_000;

const DELETIONS_PER_SWEEP = 100;
const PURGED_PER_SWEEP = 10;
const SOURCES_PER_SWEEP = 1000;

/** Once a minute: what time alone makes due, and what a crash or a lost message has left undone. */
export async function sweepDeployments(env: Env, now: number): Promise<void> {
  await attempt(env, () => nudgeDeletions(env, now));
  await attempt(env, () => forgetPurged(env, now));
  await attempt(env, () => removeUnusedSources(env, now));
  await attempt(env, () => resealDeployments(env));
}

/** What fails is left to the next minute, and keeps nothing else from being done. */
async function attempt(env: Env, task: () => Promise<unknown>): Promise<void> {
  try {
    await task();
  } catch (error) {
    const fields = { event: "deployment_sweep_failed", error: String(error) };
    log(parseSettings(env).logLevel, "error", fields);
  }
}

async function nudgeDeletions(env: Env, now: number): Promise<void> {
  const page = { before: now - WAITING_MS, limit: DELETIONS_PER_SWEEP };
  for (const { workspace_id, id } of await listWaitingDeletions(env.DB, page)) {
    await requestRollout(env, { kind: "delete", workspace_id, deployment_id: id });
  }
}

/** Once more removes what came late, and then the last that is known of the deployment. */
async function forgetPurged(env: Env, now: number): Promise<void> {
  const page = { before: now - PURGED_MS, limit: PURGED_PER_SWEEP };
  for (const { workspace_id, id } of await listPurgedDeployments(env.DB, page)) {
    const key = { workspaceId: workspace_id, deploymentId: id };
    await attempt(env, async () => {
      if (await removeContent(env, key)) await forgetDeployment(env.DB, key);
    });
  }
}

async function removeUnusedSources(env: Env, now: number): Promise<void> {
  const page = { before: now - UNUSED_SOURCE_MS, limit: SOURCES_PER_SWEEP };
  const paths = await releaseUnusedSources(env.DB, page);
  if (paths.length === 0) return;
  await env.SOURCES.delete(paths);
  await forgetSources(env.DB, paths);
}
