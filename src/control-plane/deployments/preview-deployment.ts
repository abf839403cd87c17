import type { ListedDeployment } from "../../db/deployments-repo.ts";
import { findLatestSecrets } from "../../db/deployment-lookup-repo.ts";
import { countPreviews, endPreview, findPreview } from "../../db/previews-repo.ts";
import type { RevisionSource } from "../../db/revisions-repo.ts";
import { openSecrets } from "../../revision-host/revision-secrets.ts";
import { withSecretBox } from "../../secrets/secret-box.ts";
import { PUSH_SECRET } from "../../secrets/secret-names.ts";
import { refuseFullWorkspace, storeDeployment } from "./create-deployment.ts";
import { type StoredConfig, storedConfig } from "./deployment-json.ts";
import type { DeploymentDeps } from "./deps.ts";
import { deploymentNotFound, requireKeptDeployment } from "./find-deployments.ts";
import { type BranchDeletion, isBuilt, type Push } from "./push-event.ts";
import { addRevision, requireSourcePlan } from "./revision-service.ts";
import { nextSource } from "./revision-source.ts";
import type { Secret } from "./secrets-schema.ts";
import { slugOf } from "./slug.ts";

/** Maximum previews of one deployment. Each of them also counts as a deployment of the workspace. */
const MAX_PREVIEWS = 10;

/** Maximum attempts, which conflicts with names, slugs and other deliveries of the same push use up. */
const MAX_ATTEMPTS = 5;

/** Maximum remembered deletions. Pushes that arrive after the deletion of their branch are late by minutes. */
const MAX_ENDED = 50;

const MAX_PARENT_NAME_CHARS = 60;
const MAX_BRANCH_CHARS = 30;
const SUFFIX_CHARS = 8;

const BRANCH = "refs/heads/";

/** Returns the short name of a branch; null for a tag. */
export function branchOf(ref: string): string | null {
  return ref.startsWith(BRANCH) ? ref.slice(BRANCH.length) : null;
}

type Outcome = { revision_id: string | null; message: string };

/**
 * Makes the preview of a branch or, if it has one, a revision of it, unless the preview has this push or a later
 * one.
 */
export async function pushPreview(
  deps: DeploymentDeps,
  parent: ListedDeployment,
  branch: string,
  push: Push,
): Promise<Outcome> {
  const { db, workspaceId } = deps;
  const of = { workspaceId, deploymentId: parent.deployment.id };
  const secrets = await secretsOf(deps, of.deploymentId);
  const source = sourceOf(parent, branch, push);
  const lastPush = { commit: push.commit, pushed_at: push.pushedAt };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const existing = await findPreview(db, of, branch);
    if (existing !== undefined) {
      const { id, isNew } = await addRevision(deps, existing, ({ deployment, revision }) =>
        isBuilt(push, revision.repo_commit_sha, storedConfig(deployment).last_push)
          ? null
          : { source, secrets, displayName: null, config: { last_push: lastPush } },
      );
      const message = isNew
        ? `Commit ${push.commit} is rolled out as the preview of ${branch}`
        : "The preview has a revision of this push, or of a later one";
      return { revision_id: id, message };
    }
    const reason = await reasonForNone(deps, of.deploymentId, branch, push);
    if (reason !== null) return { revision_id: null, message: `Ignored: ${reason}` };
    const made = await createPreview(deps, parent, { branch, source, secrets, lastPush, attempt });
    if (made === null) continue;
    const message = `Commit ${push.commit} is rolled out as the preview ${made.name}`;
    return { revision_id: made.revisionId, message };
  }
  throw new Error(`no name was free for the preview of ${branch}`);
}

/** Deletes the preview of a deleted branch with all its data, and records when the branch was deleted. */
export async function deletePreview(
  deps: Pick<DeploymentDeps, "db" | "workspaceId" | "requestWork">,
  { deployment }: ListedDeployment,
  branch: string,
  { pushedAt }: BranchDeletion,
): Promise<Outcome> {
  const { db, workspaceId } = deps;
  const of = { workspaceId, deploymentId: deployment.id };
  const { previews, ended_previews: ended = {} } = storedConfig(deployment);
  const none = { revision_id: null, message: "Ignored: the branch was deleted" };
  if (previews !== true && (await findPreview(db, of, branch)) === undefined) return none;
  const oldest = Object.entries(ended)
    .filter(([name]) => name !== branch)
    .toSorted(([, one], [, other]) => other - one)
    .slice(MAX_ENDED - 1);
  const config = {
    ended_previews: {
      ...Object.fromEntries(oldest.map(([name]) => [name, null])),
      [branch]: Math.max(pushedAt, endedAt(ended, branch)),
    },
  };
  const ending = { branch, deletedAt: pushedAt, config, now: Date.now() };
  const id = await endPreview(db, of, ending);
  if (id === undefined) return none;
  await deps.requestWork([{ kind: "delete", workspace_id: workspaceId, deployment_id: id }]);
  return { revision_id: null, message: `The preview of ${branch} is deleted with its branch` };
}

type Wanted = {
  branch: string;
  source: RevisionSource;
  secrets: readonly Secret[];
  lastPush: { commit: string; pushed_at: number };
  attempt: number;
};

async function createPreview(
  deps: DeploymentDeps,
  { deployment }: ListedDeployment,
  { branch, source, secrets, lastPush, attempt }: Wanted,
): Promise<{ name: string; revisionId: string } | null> {
  await requireSourcePlan(deps, source.source);
  const plan = await deps.plan();
  const quota = deps.quotaOf(plan).deployments;
  await refuseFullWorkspace(deps, { plan, quota });
  const id = crypto.randomUUID();
  const readable = nameOf(deployment.name, branch);
  // The first attempt has no suffix, the second a suffix in the slug, and later ones also in the name.
  const name =
    attempt < 2 && readable !== null ? readable : suffixed(readable ?? deployment.name, id);
  const { deployment_type, integration_id, repo_url = null } = storedConfig(deployment);
  const config: StoredConfig = {
    deployment_type,
    template_id: null,
    ...(integration_id === undefined ? {} : { integration_id }),
    repo_url,
    preview_of: deployment.id,
    preview_branch: branch,
    last_push: lastPush,
  };
  const slug = slugOf(name, id, { suffix: attempt > 0 });
  const preview = {
    of: deployment.id,
    branch,
    pushed_at: lastPush.pushed_at,
    most: MAX_PREVIEWS,
  };
  const made = { id, name, slug, config, source, secrets };
  const revisionId = await storeDeployment(deps, made, quota, preview);
  return revisionId === null ? null : { name, revisionId };
}

/**
 * Returns why a branch gets no preview; null when it may have one. The inserting statement checks all of this
 * again.
 */
async function reasonForNone(
  deps: DeploymentDeps,
  deploymentId: string,
  branch: string,
  push: Push,
): Promise<string | null> {
  const { deployment } = await requireKeptDeployment(deps, deploymentId);
  const { ended_previews: ended = {} } = storedConfig(deployment);
  if (endedAt(ended, branch) >= push.pushedAt) return "the branch was deleted";
  const { db, workspaceId } = deps;
  const count = await countPreviews(db, { workspaceId, deploymentId });
  return count < MAX_PREVIEWS
    ? null
    : `the deployment has ${MAX_PREVIEWS} previews, the most there may be`;
}

function endedAt(ended: Record<string, number>, branch: string): number {
  // A branch may be named like a property that every object inherits.
  return Object.hasOwn(ended, branch) ? (ended[branch] ?? -Infinity) : -Infinity;
}

/**
 * Returns the secrets of a preview's revision: the deployment's current ones, except the secret of its webhook.
 */
async function secretsOf(deps: DeploymentDeps, deploymentId: string): Promise<Secret[]> {
  const { db, workspaceId, encryptionKeys } = deps;
  const found = await findLatestSecrets(db, deploymentId);
  if (found === undefined) throw deploymentNotFound(deploymentId);
  const opened = await withSecretBox("The deployment's secrets cannot be read", () =>
    openSecrets(encryptionKeys, { workspaceId, deploymentId }, found.secrets),
  );
  return Object.entries(opened)
    .filter(([name]) => name !== PUSH_SECRET)
    .map(([name, value]) => ({ name, value }));
}

function sourceOf(
  { deployment, revision }: ListedDeployment,
  branch: string,
  push: Push,
): RevisionSource {
  const { repo_url: repoUrl = null } = storedConfig(deployment);
  const asked = { source: "github", config: { repo_ref: branch } } as const;
  const source = nextSource(revision, { templateId: null, repoUrl }, asked);
  return { ...source, repo_commit_sha: push.commit };
}

/**
 * Returns a readable name; null when the branch's name contains no characters that a deployment's name may have.
 */
function nameOf(parent: string, branch: string): string | null {
  const word = branch
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_BRANCH_CHARS)
    .replaceAll(/^-|-$/g, "");
  return word === "" ? null : `${parent.slice(0, MAX_PARENT_NAME_CHARS)}-${word}`;
}

function suffixed(name: string, id: string): string {
  return `${name.slice(0, MAX_PARENT_NAME_CHARS + MAX_BRANCH_CHARS)}-${id.slice(0, SUFFIX_CHARS)}`;
}
