import { v7 as uuidv7 } from "uuid";
import {
  countDeployments,
  insertDeployment,
  selectDeploymentByName,
} from "../../db/deployments-repo.ts";
import type { NewPreview } from "../../db/previews-repo.ts";
import type { RevisionSource } from "../../db/revisions-repo.ts";
import type { Plan } from "../../lib/plan-order.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import type { DeploymentSource } from "../../db/deployments-schema.ts";
import { adviceFor } from "../integrations/github-integration.ts";
import { checkBuildOnPush } from "./build-on-push.ts";
import { firstSource } from "./revision-source.ts";
import type { StoredConfig } from "./deployment-json.ts";
import type { DeploymentDeps, ReadDeps } from "./deps.ts";
import { requireSourcePlan, sealForRevision } from "./revision-service.ts";
import type { DeploymentCreate } from "./schemas.ts";
import type { Secret } from "./secrets-schema.ts";
import { slugOf } from "./slug.ts";
import { requireUpload } from "./source-uploads.ts";

/** Maximum slugs to try. The first has no suffix; the others have a random one each. */
const MAX_SLUGS = 4;

/**
 * Creates a deployment, starts the rollout of its first revision, and returns its id. Throws a 409 when the name
 * is taken, and a 403 when the workspace's plan allows no more deployments.
 */
export async function createDeployment(
  deps: DeploymentDeps,
  body: DeploymentCreate,
): Promise<string> {
  const config: StoredConfig = {
    deployment_type: body.source_config.deployment_type ?? null,
    template_id: body.source_config.template_id ?? null,
    repo_url: body.source_config.repo_url ?? null,
  };
  const { integration_id: integrationId } = body.source_config;
  if (integrationId != null) {
    checkIntegration(deps, integrationId, body.source);
    config.integration_id = integrationId;
  }
  const fields = (["build_on_push", "previews"] as const).filter(
    (field) => body.source_config[field] === true,
  );
  checkBuildOnPush({
    fields,
    isPreview: false,
    repoUrl: config.repo_url ?? null,
    repoRef: body.source_revision_config.repo_ref ?? null,
    secretNames: (body.secrets ?? []).map(({ name }) => name),
  });
  for (const field of fields) config[field] = true;
  await requireSourcePlan(deps, body.source);
  const plan = await deps.plan();
  const quota = deps.quotaOf(plan).deployments;
  const source = firstSource({
    source: body.source,
    templateId: config.template_id,
    repoUrl: config.repo_url ?? null,
    githubUrl: deps.githubUrl,
    config: body.source_revision_config,
  });
  for (let attempt = 0; attempt < MAX_SLUGS; attempt += 1) {
    await requireUpload(deps, source.source_tarball_path);
    // The id is random from its first digit on, because a slug's suffix may use its beginning.
    const id = crypto.randomUUID();
    const slug = slugOf(body.name, id, { suffix: attempt > 0 });
    const made = { id, name: body.name, slug, config, source, secrets: body.secrets ?? [] };
    if ((await storeDeployment(deps, made, quota)) !== null) return id;
    await refuseTakenName(deps, body.name);
    await refuseFullWorkspace(deps, { plan, quota });
  }
  throw new Error(`no slug for ${JSON.stringify(body.name)} was free`);
}

function checkIntegration(
  { integration }: Pick<DeploymentDeps, "integration">,
  id: string,
  source: DeploymentSource,
): void {
  const loc = ["body", "source_config", "integration_id"];
  if (source !== "github") {
    throw invalidField(loc, "Only a deployment of source github has an integration", "value_error");
  }
  if (integration?.id === id) return;
  throw invalidField(loc, `There is no such integration. ${adviceFor(integration)}`, "value_error");
}

type Made = {
  id: string;
  name: string;
  slug: string;
  config: StoredConfig;
  source: RevisionSource;
  secrets: readonly Secret[];
};

/**
 * Stores a deployment and requests the rollout of its revision. Returns the revision's id; null when
 * `insertDeployment` stores nothing.
 */
export async function storeDeployment(
  deps: DeploymentDeps,
  { id, name, slug, config, source, secrets }: Made,
  quota: number,
  preview: NewPreview | null = null,
): Promise<string | null> {
  const { db, workspaceId } = deps;
  const revisionId = uuidv7();
  const now = Date.now();
  const sealed = await sealForRevision(deps, { workspaceId, deploymentId: id }, secrets);
  const inserted = await insertDeployment(
    db,
    {
      workspace_id: workspaceId,
      id,
      name,
      slug,
      source: source.source,
      source_config: JSON.stringify(config),
      latest_revision_id: revisionId,
      created_at: now,
    },
    {
      ...source,
      workspace_id: workspaceId,
      deployment_id: id,
      id: revisionId,
      secrets: sealed,
      created_at: now,
      due_at: now,
    },
    quota,
    preview,
  );
  if (!inserted) return null;
  const named = { workspace_id: workspaceId, deployment_id: id, revision_id: revisionId };
  await Promise.all([deps.requestWork([{ kind: "roll_out", ...named }]), deps.ensureProject(name)]);
  return revisionId;
}

/** Throws a 403 when the workspace has as many deployments as its plan allows. */
export async function refuseFullWorkspace(
  { db, workspaceId }: ReadDeps,
  { plan, quota }: { plan: Plan; quota: number },
): Promise<void> {
  if ((await countDeployments(db, workspaceId)) < quota) return;
  const most = quota === 1 ? "one deployment" : `${quota} deployments`;
  throw new ApiError("forbidden", `The plan ${plan} allows a workspace ${most} at most`);
}

async function refuseTakenName({ db, workspaceId }: ReadDeps, name: string): Promise<void> {
  const other = await selectDeploymentByName(db, workspaceId, name);
  if (other === undefined) return;
  const text = `The workspace has a deployment named '${name}' already`;
  const more = other.status === "AWAITING_DELETE" ? ", which is being deleted" : "";
  throw new ApiError("conflict", `${text}${more}`);
}
