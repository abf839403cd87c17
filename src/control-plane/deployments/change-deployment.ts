import { describeDeployment, type ListedDeployment } from "../../db/deployments-repo.ts";
import { invalidField } from "../../lib/api-error.ts";
import { checkBuildOnPush } from "./build-on-push.ts";
import { nextSource } from "./revision-source.ts";
import { type StoredConfig, storedConfig } from "./deployment-json.ts";
import type { DeploymentDeps } from "./deps.ts";
import { requireKeptDeployment } from "./find-deployments.ts";
import { addRevision } from "./revision-service.ts";
import type { DeploymentPatch, RevisionCreate } from "./schemas.ts";

type Changing = Pick<
  DeploymentDeps,
  "db" | "workspaceId" | "encryptionKeys" | "plan" | "requestWork"
>;

/** Changes a deployment. A revision is made only when the deployed project or the secrets change. */
export async function changeDeployment(
  deps: Changing,
  deploymentId: string,
  body: DeploymentPatch,
): Promise<void> {
  const displayName = body.display_name ?? null;
  if (makesRevision(body)) {
    await reviseDeployment(deps, deploymentId, body, displayName);
    return;
  }
  const found = await requireKeptDeployment(deps, deploymentId);
  checkUnchanged(found, body);
  if (body.revision_source != null && body.revision_source !== found.revision.source) {
    const message =
      "A revision source alone makes no revision: give a source_revision_config, or POST a revision";
    throw invalidField(["body", "revision_source"], message, "value_error");
  }
  const { build_on_push, previews } = body.source_config ?? {};
  const isAboutPushes = build_on_push != null || previews != null;
  const config = isAboutPushes ? pushConfig(found, body, found.revision.repo_ref) : {};
  if (displayName === null && !isAboutPushes) return;
  const { db, workspaceId } = deps;
  const of = { workspaceId, deploymentId };
  await describeDeployment(db, of, { displayName, config, now: Date.now() });
}

/** Makes a revision in any case, and returns its id. */
export async function reviseDeployment(
  deps: Changing,
  deploymentId: string,
  body: RevisionCreate,
  displayName: string | null = null,
): Promise<string> {
  const { id } = await addRevision(deps, deploymentId, (found) => {
    checkUnchanged(found, body);
    const { template_id: templateId, repo_url: repoUrl = null } = storedConfig(found.deployment);
    const source = body.revision_source ?? undefined;
    const config = body.source_revision_config ?? {};
    const next = nextSource(found.revision, { templateId, repoUrl }, { source, config });
    return {
      source: next,
      // An empty list counts as missing.
      secrets: body.secrets?.length ? body.secrets : null,
      displayName,
      config: pushConfig(found, body, next.repo_ref),
    };
  });
  return id;
}

function makesRevision({ source_revision_config: config, secrets }: DeploymentPatch): boolean {
  const { source_tarball_path, langgraph_config_path, repo_ref } = config ?? {};
  const isNewSource =
    source_tarball_path != null || langgraph_config_path != null || repo_ref != null;
  return isNewSource || (secrets ?? []).length > 0;
}

/**
 * Returns the requested changes of `source_config`: whether pushes are built, and whether previews are made.
 * Throws a 422 when either would be enabled but impossible.
 */
function pushConfig(
  { deployment, secretNames }: ListedDeployment,
  { source_config: config, secrets }: RevisionCreate,
  repoRef: string | null,
): Pick<StoredConfig, "build_on_push" | "previews"> {
  const stored = storedConfig(deployment);
  const given: Pick<StoredConfig, "build_on_push" | "previews"> = {};
  for (const field of ["build_on_push", "previews"] as const) {
    const value = config?.[field];
    if (value != null) given[field] = value;
  }
  const wanted = { build_on_push: stored.build_on_push, previews: stored.previews, ...given };
  const names = secrets?.map(({ name }) => name) ?? [];
  checkBuildOnPush({
    fields: (["build_on_push", "previews"] as const).filter((field) => wanted[field] === true),
    isPreview: stored.preview_of !== undefined,
    repoUrl: stored.repo_url ?? null,
    repoRef,
    secretNames: names.length > 0 ? names : secretNames,
  });
  return given;
}

/** Throws a 422 for changes of fields that are fixed at creation. Repeating their values is allowed. */
function checkUnchanged(
  { deployment }: ListedDeployment,
  { source_config: config }: RevisionCreate,
): void {
  const stored = storedConfig(deployment);
  for (const field of ["deployment_type", "template_id", "integration_id", "repo_url"] as const) {
    const given = config?.[field];
    if (given == null || given === stored[field]) continue;
    const message = `It cannot be changed: it is ${JSON.stringify(stored[field] ?? null)}`;
    throw invalidField(["body", "source_config", field], message, "value_error");
  }
}
