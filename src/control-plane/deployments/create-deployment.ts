import { v7 as uuidv7 } from "uuid";
import {
  countDeployments,
  insertDeployment,
  selectDeploymentByName,
} from "../../db/deployments-repo.ts";
import type { Plan } from "../../lib/plan-order.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { planQuota } from "../../identity/plan-quotas.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import { ensureDeploymentProject } from "../../tracing/deployment-project.ts";
import { firstSource } from "./revision-source.ts";
import { requestRollout } from "./rollout/request-rollout.ts";
import { requireUpload } from "./require-upload.ts";
import type { StoredConfig } from "./deployment-json.ts";
import { requireSourcePlan } from "./require-plan.ts";
import type { DeploymentCreate } from "./schemas.ts";
import { sealSecrets } from "./sealed-secrets.ts";
import { slugOf } from "./slug.ts";

/** The first is without a suffix; each of the others has another one. */
const MAX_SLUGS = 4;

/**
 * The id of a new deployment, whose first revision is to be rolled out. 409 when its name is taken, 403
 * when the workspace's plan allows no more.
 */
export async function createDeployment(c: AppContext, body: DeploymentCreate): Promise<string> {
  const config: StoredConfig = {
    deployment_type: body.source_config.deployment_type ?? null,
    template_id: body.source_config.template_id ?? null,
  };
  await requireSourcePlan(c, body.source);
  const plan = await workspacePlan(c.env, c.var.scope.workspaceId);
  const quota = planQuota(c.var.settings, plan).deployments;
  const source = firstSource({
    source: body.source,
    templateId: config.template_id,
    config: body.source_revision_config,
  });
  for (let attempt = 0; attempt < MAX_SLUGS; attempt += 1) {
    await requireUpload(c, source.source_tarball_path);
    // Random from its first digit on, which a slug may need.
    const id = crypto.randomUUID();
    const { workspaceId } = c.var.scope;
    const key = { workspaceId, deploymentId: id };
    const revisionId = uuidv7();
    const now = Date.now();
    const inserted = await insertDeployment(
      c.env.DB,
      {
        workspace_id: workspaceId,
        id,
        name: body.name,
        display_name: null,
        slug: slugOf(body.name, id, { suffix: attempt > 0 }),
        source: body.source,
        source_config: JSON.stringify(config),
        status: "READY",
        latest_revision_id: revisionId,
        active_revision_id: null,
        deletes_project: false,
        created_at: now,
        updated_at: now,
        purged_at: null,
      },
      {
        ...source,
        workspace_id: workspaceId,
        deployment_id: id,
        id: revisionId,
        secrets: await sealSecrets(c.env, key, body.secrets ?? []),
        created_at: now,
        due_at: now,
      },
      quota,
    );
    if (inserted) {
      await Promise.all([
        requestRollout(c.env, {
          kind: "roll_out",
          workspace_id: workspaceId,
          deployment_id: id,
          revision_id: revisionId,
        }),
        ensureDeploymentProject(c.env, workspaceId, body.name),
      ]);
      return id;
    }
    await refuseTakenName(c, body.name);
    await refuseFullWorkspace(c, { plan, quota });
  }
  throw new Error(`no slug for ${JSON.stringify(body.name)} was free`);
}

async function refuseFullWorkspace(
  c: AppContext,
  { plan, quota }: { plan: Plan; quota: number },
): Promise<void> {
  if ((await countDeployments(c.env.DB, c.var.scope.workspaceId)) < quota) return;
  const most = quota === 1 ? "one deployment" : `${quota} deployments`;
  throw new ApiError("forbidden", `The plan ${plan} allows a workspace ${most} at most`);
}

async function refuseTakenName(c: AppContext, name: string): Promise<void> {
  const other = await selectDeploymentByName(c.env.DB, c.var.scope.workspaceId, name);
  if (other === undefined) return;
  const text = `The workspace has a deployment named '${name}' already`;
  const more = other.status === "AWAITING_DELETE" ? ", which is being deleted" : "";
  throw new ApiError("conflict", `${text}${more}`);
}
