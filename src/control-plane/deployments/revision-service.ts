import { v7 as uuidv7 } from "uuid";
import type { ListedDeployment } from "../../db/deployments-repo.ts";
import { findLatestSecrets } from "../../db/deployment-lookup-repo.ts";
import type { DeploymentSource } from "../../db/deployments-schema.ts";
import {
  insertRevision,
  interruptRevision,
  type ListedRevision,
  type RevisionSource,
} from "../../db/revisions-repo.ts";
import { needsPlan } from "../../identity/require-plan.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { isAtLeast, type Plan } from "../../lib/plan-order.ts";
import { sealSecrets } from "../../revision-host/revision-secrets.ts";
import { withSecretBox } from "../../secrets/secret-box.ts";
import type { DeploymentDeps } from "./deps.ts";
import type { StoredConfig } from "./deployment-json.ts";
import { requireKeptDeployment, requireRevision, type RevisionPath } from "./find-deployments.ts";
import type { Secret, SecretChange } from "./secrets-schema.ts";
import { requireUpload } from "./source-uploads.ts";

/** Maximum attempts when other requests change the deployment at the same time. */
const MAX_ATTEMPTS = 5;

/** Every plan may deploy templates; a workspace's own projects require this plan or a higher one. */
const PLAN_OF_OWN_PROJECTS: Plan = "plus";
const OWN_PROJECTS = "Deployments of own projects are not enabled for this workspace: source";

type Changing = Pick<
  DeploymentDeps,
  "db" | "workspaceId" | "encryptionKeys" | "plan" | "requestWork"
>;

type Change = {
  source: RevisionSource;
  /** When this is null, the revision gets the secrets of the revision before. */
  secrets: readonly SecretChange[] | null;
  displayName: string | null;
  /** Members of the deployment's `source_config` to change with it. */
  config?: Partial<StoredConfig>;
};

/** Throws a 403 when the workspace's plan does not allow deploying this source. */
export async function requireSourcePlan(
  { plan }: Pick<DeploymentDeps, "plan">,
  source: DeploymentSource,
): Promise<void> {
  if (source === "internal_template" || isAtLeast(await plan(), PLAN_OF_OWN_PROJECTS)) return;
  throw new ApiError("forbidden", needsPlan(PLAN_OF_OWN_PROJECTS, `${OWN_PROJECTS} ${source}`));
}

/** Seals the secrets of a revision. Throws a 503 when there are no keys to seal them with. */
export function sealForRevision(
  { encryptionKeys }: Pick<DeploymentDeps, "encryptionKeys">,
  key: { workspaceId: string; deploymentId: string },
  secrets: readonly Secret[],
): Promise<string> {
  return withSecretBox("Secrets cannot be kept", () => sealSecrets(encryptionKeys, key, secrets));
}

/**
 * Makes a revision by applying `change` to the latest one, and requests its rollout. Concurrent requests are
 * applied one after the other, each to the result of the one before. When `change` returns null, no revision is
 * made: the result has the latest one's id, and `isNew` is false.
 */
export async function addRevision(
  deps: Changing,
  deploymentId: string,
  change: (found: ListedDeployment) => Change | null,
): Promise<{ id: string; isNew: boolean }> {
  const { db, workspaceId } = deps;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const found = await requireKeptDeployment(deps, deploymentId);
    const changed = change(found);
    if (changed === null) return { id: found.revision.id, isNew: false };
    const { source, secrets, displayName, config = {} } = changed;
    await requireSourcePlan(deps, source.source);
    await requireUpload(deps, source.source_tarball_path);
    const dueAt = Date.now();
    // Other machines' clocks may be ahead, but ids must sort in the order of the revisions.
    const createdAt = Math.max(dueAt, found.revision.created_at + 1);
    const id = uuidv7({ msecs: createdAt });
    const inserted = await insertRevision(
      db,
      {
        ...source,
        workspace_id: workspaceId,
        deployment_id: deploymentId,
        id,
        secrets: secrets === null ? null : await sealChanges(deps, found, secrets),
        created_at: createdAt,
        due_at: dueAt,
      },
      { latest: found.revision.id, displayName, config },
    );
    if (!inserted) continue;
    const named = { workspace_id: workspaceId, deployment_id: deploymentId, revision_id: id };
    await deps.requestWork([{ kind: "roll_out", ...named }]);
    return { id, isNew: true };
  }
  throw new ApiError("conflict", "Others are changing the deployment at the same time: try again");
}

/**
 * Returns the secrets of the next revision; those without a new value are taken over in sealed form. The stored
 * secrets may already be those of a revision later than `found`, but then the next revision is not stored.
 */
async function sealChanges(
  deps: Pick<Changing, "db" | "workspaceId" | "encryptionKeys">,
  { deployment, secretNames }: ListedDeployment,
  secrets: readonly SecretChange[],
): Promise<string> {
  const { db, workspaceId, encryptionKeys } = deps;
  const key = { workspaceId, deploymentId: deployment.id };
  for (const [index, { name, value }] of secrets.entries()) {
    if (value != null || secretNames.includes(name)) continue;
    const message = `Field required: there is no secret ${name} whose value could be kept`;
    throw invalidField(["body", "secrets", index, "value"], message, "missing");
  }
  const takesOver = secrets.some(({ value }) => value == null);
  const before = takesOver ? (await findLatestSecrets(db, deployment.id))?.secrets : undefined;
  return withSecretBox("Secrets cannot be kept", () =>
    sealSecrets(encryptionKeys, key, secrets, before),
  );
}

/** Makes a new revision with the source of an old one and the deployment's current secrets. */
export async function redeployRevision(deps: Changing, path: RevisionPath): Promise<void> {
  const old = await requireRevision(deps, path);
  if (old.source === "internal_source" && old.source_tarball_path === null) {
    throw new ApiError("bad_request", `Revision ID ${old.id} has nothing to deploy.`);
  }
  await addRevision(deps, path.deployment_id, () => ({
    source: old,
    secrets: null,
    displayName: null,
  }));
}

/** Interrupts a revision that has not ended; the serving revision continues. Throws a 409 when it has ended. */
export async function interruptRollout(
  deps: Pick<DeploymentDeps, "db" | "workspaceId">,
  path: RevisionPath,
): Promise<ListedRevision> {
  const { db, workspaceId } = deps;
  const revision = await requireRevision(deps, path);
  const key = { workspaceId, deploymentId: path.deployment_id };
  const interrupted = await interruptRevision(db, key, revision.id, Date.now());
  if (interrupted !== undefined) return interrupted;
  const { status } = await requireRevision(deps, path);
  throw new ApiError("conflict", `Revision ID ${revision.id} has ended: it is ${status}.`);
}
