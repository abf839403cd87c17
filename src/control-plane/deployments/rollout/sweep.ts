import { listDueRevisions } from "../../../db/rollouts-repo.ts";
import { sweepDeployments } from "../sweep.ts";
import { requestRollout } from "./request-rollout.ts";

const REVISIONS_PER_SWEEP = 200;

/** Once a minute: rollouts that a crash or a lost message has left, and what is to be deleted. */
export async function sweepControlPlane(env: Env, now: number): Promise<void> {
  for (const ref of await listDueRevisions(env.DB, now, REVISIONS_PER_SWEEP)) {
    await requestRollout(env, {
      kind: "roll_out",
      workspace_id: ref.workspaceId,
      deployment_id: ref.deploymentId,
      revision_id: ref.revisionId,
    });
  }
  await sweepDeployments(env, now);
}
