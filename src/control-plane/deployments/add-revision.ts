import { v7 as uuidv7 } from "uuid";
import type { ListedDeployment } from "../../db/deployments-repo.ts";
import { insertRevision, type RevisionSource } from "../../db/revisions-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { requireReadyDeployment } from "./require-deployment.ts";
import { requireSourcePlan } from "./require-plan.ts";
import { sealSecrets } from "./sealed-secrets.ts";
import type { Secret } from "./secrets-schema.ts";
import { requestRollout } from "./rollout/request-rollout.ts";
import { requireUpload } from "./require-upload.ts";

/** How often others may get ahead of a request. */
const MAX_ATTEMPTS = 5;

type Change = {
  source: RevisionSource;
  /** Empty: those of the revision before. */
  secrets: readonly Secret[];
  displayName: string | null;
};

/**
 * Makes a revision of what `change` makes of the latest one, and asks for its rollout; its id. Revisions
 * that are made at once follow each other, each made of the one before.
 */
export async function addRevision(
  c: AppContext,
  deploymentId: string,
  change: (found: ListedDeployment) => Change,
): Promise<string> {
  const { workspaceId } = c.var.scope;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const found = await requireReadyDeployment(c, deploymentId);
    const { source, secrets, displayName } = change(found);
    await requireSourcePlan(c, source.source);
    await requireUpload(c, source.source_tarball_path);
    const dueAt = Date.now();
    // Other machines' clocks may be ahead, and ids are in the order of the revisions.
    const createdAt = Math.max(dueAt, found.revision.created_at + 1);
    const id = uuidv7({ msecs: createdAt });
    const key = { workspaceId, deploymentId };
    const inserted = await insertRevision(
      c.env.DB,
      {
        ...source,
        workspace_id: workspaceId,
        deployment_id: deploymentId,
        id,
        secrets: secrets.length === 0 ? null : await sealSecrets(c.env, key, secrets),
        created_at: createdAt,
        due_at: dueAt,
      },
      { latest: found.revision.id, displayName },
    );
    if (inserted) {
      await requestRollout(c.env, {
        kind: "roll_out",
        workspace_id: workspaceId,
        deployment_id: deploymentId,
        revision_id: id,
      });
      return id;
    }
  }
  throw new ApiError("conflict", "Others are changing the deployment at the same time: try again");
}
