import {
  forgetDeployment,
  listPurgedDeployments,
  listWaitingDeletions,
} from "../../db/deployments-repo.ts";
import { listDue } from "../../db/leases-repo.ts";
import { ROLLOUT_WORK } from "../../db/rollouts-repo.ts";
import { forgetSources, releaseUnusedSources } from "../../db/source-uploads-repo.ts";
import { queueHandler } from "../../work/queue.ts";
import type { SweepTask } from "../../work/sweep.ts";
import { deleteDeployment, removeContent } from "./delete-deployment.ts";
import { LEASE_MS, rollOut } from "./rollout/roll-out.ts";
import { requestWork, workMessage } from "./work-messages.ts";

/** A deletion without progress for this long has lost its message. */
const WAITING_MS = 60_000;

/** Work in flight when a deployment is deleted may still write data for this long. */
const PURGED_MS = 10 * 60_000;

/** How long an unused tarball is kept. Its upload URL expires before. */
const UNUSED_SOURCE_MS = 24 * 3_600_000;

/** Rolls out revisions and deletes deployments that messages name. */
export const deploymentQueue = queueHandler({
  queue: "threadworks-rollouts",
  message: workMessage,
  look: async (message, env, exports) => {
    const of = { workspaceId: message.workspace_id, deploymentId: message.deployment_id };
    if (message.kind === "delete") {
      if (!(await deleteDeployment(env, of))) await requestWork(env, [message]);
      return;
    }
    const dueAt = await rollOut(env, exports, { ...of, revisionId: message.revision_id });
    if (dueAt !== null) await requestWork(env, [message], dueAt - Date.now());
  },
  retrySeconds: () => LEASE_MS / 1000 + 1,
});

/** Work on deployments that becomes due by time alone, or that a crash or a lost message has left undone. */
export const deploymentSweep: readonly SweepTask[] = [
  {
    name: "nudge_rollouts",
    rows: 200,
    run: async ({ env, now, rows }) => {
      const due = await listDue(env.DB, ROLLOUT_WORK, now, rows);
      const messages = due.map(({ workspaceId, deploymentId, revisionId }) => ({
        kind: "roll_out" as const,
        workspace_id: workspaceId,
        deployment_id: deploymentId,
        revision_id: revisionId,
      }));
      await requestWork(env, messages);
    },
  },
  {
    name: "nudge_deletions",
    rows: 100,
    run: async ({ env, now, rows }) => {
      const page = { before: now - WAITING_MS, limit: rows };
      const waiting = await listWaitingDeletions(env.DB, page);
      const messages = waiting.map(({ workspace_id, id }) => ({
        kind: "delete" as const,
        workspace_id,
        deployment_id: id,
      }));
      await requestWork(env, messages);
    },
  },
  {
    // Removes content that was written after the deletion, and then the deployment's row.
    name: "forget_deployments",
    rows: 10,
    run: async ({ env, now, rows, each }) => {
      const page = { before: now - PURGED_MS, limit: rows };
      await each(await listPurgedDeployments(env.DB, page), async ({ workspace_id, id }) => {
        const key = { workspaceId: workspace_id, deploymentId: id };
        if (await removeContent(env, key)) await forgetDeployment(env.DB, key);
      });
    },
  },
  {
    name: "remove_unused_sources",
    rows: 1000,
    run: async ({ env, now, rows }) => {
      const page = { before: now - UNUSED_SOURCE_MS, limit: rows };
      const paths = await releaseUnusedSources(env.DB, page);
      if (paths.length === 0) return;
      await env.SOURCES.delete(paths);
      await forgetSources(env.DB, paths);
    },
  },
];
