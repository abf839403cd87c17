import type { ListedDeployment } from "../../db/deployments-repo.ts";
import { pushedRef } from "./build-on-push.ts";
import { storedConfig } from "./deployment-json.ts";
import type { DeploymentDeps } from "./deps.ts";
import { requireKeptDeployment } from "./find-deployments.ts";
import { branchOf, deletePreview, pushPreview } from "./preview-deployment.ts";
import { type BranchDeletion, isBuilt, type Push } from "./push-event.ts";
import { parseRepositoryUrl } from "./repository-url.ts";
import { addRevision } from "./revision-service.ts";
import { nextSource } from "./revision-source.ts";

/** The result of an event. The revision is null when none was made. */
type PushOutcome = { revision_id: string | null; message: string };

/** Makes a revision from a push to the deployed branch, or updates the preview of another branch. */
export async function buildPush(
  deps: DeploymentDeps,
  deploymentId: string,
  push: Push,
): Promise<PushOutcome> {
  const found = await requireKeptDeployment(deps, deploymentId);
  const reason = reasonToIgnore(found, push, deps);
  if (reason !== null) return ignored(reason);
  const { build_on_push, previews } = storedConfig(found.deployment);
  const [ref, branch] = [
    pushedRef(found.revision.repo_ref, push.defaultBranch),
    branchOf(push.ref),
  ];
  if (push.isDeletion) return endBranch(deps, deploymentId, push);
  if (push.ref === ref && build_on_push === true) return buildBranch(deps, deploymentId, push);
  if (push.ref !== ref && branch !== null && previews === true) {
    return pushPreview(deps, found, branch, push);
  }
  if (build_on_push !== true) return ignored("the deployment does not build on push");
  return ignored(`only pushes to ${ref} are built`);
}

/** Deletes the preview of a deleted branch. The serving revision is kept, and so is a preview of a later push. */
export async function endBranch(
  deps: DeploymentDeps,
  deploymentId: string,
  deletion: BranchDeletion | null,
): Promise<PushOutcome> {
  const branch = deletion === null ? null : branchOf(deletion.ref);
  if (deletion === null || branch === null) return ignored("the deleted ref is not a branch");
  const found = await requireKeptDeployment(deps, deploymentId);
  const reason = otherRepository(found, deletion, deps);
  if (reason !== null) return ignored(reason);
  return deletePreview(deps, found, branch, deletion);
}

/** Makes a revision of the push, unless the deployment has one of this push or a later one. */
async function buildBranch(
  deps: DeploymentDeps,
  deploymentId: string,
  push: Push,
): Promise<PushOutcome> {
  const { id, isNew } = await addRevision(deps, deploymentId, ({ deployment, revision }) => {
    const { repo_url: repoUrl = null, last_push } = storedConfig(deployment);
    if (isBuilt(push, revision.repo_commit_sha, last_push)) return null;
    const asked = { source: "github", config: {} } as const;
    return {
      source: {
        ...nextSource(revision, { templateId: null, repoUrl }, asked),
        repo_commit_sha: push.commit,
      },
      secrets: null,
      displayName: null,
      config: { last_push: { commit: push.commit, pushed_at: push.pushedAt } },
    };
  });
  const message = isNew
    ? `Commit ${push.commit} is rolled out`
    : "The deployment has a revision of this push, or of a later one";
  return { revision_id: id, message };
}

function reasonToIgnore(
  found: ListedDeployment,
  push: Push,
  settings: Pick<DeploymentDeps, "githubUrl">,
): string | null {
  const { build_on_push, previews } = storedConfig(found.deployment);
  // Previews that were made while they were enabled are deleted with their branch.
  const isListening = build_on_push === true || previews === true || push.isDeletion;
  if (!isListening) return "the deployment does not build on push";
  if (found.revision.source !== "github" && !push.isDeletion) {
    return "the latest revision is not of a repository";
  }
  return otherRepository(found, push, settings);
}

function otherRepository(
  { deployment }: ListedDeployment,
  { repository: pushed }: Pick<Push, "repository">,
  { githubUrl }: Pick<DeploymentDeps, "githubUrl">,
): string | null {
  const repository = parseRepositoryUrl(storedConfig(deployment).repo_url ?? "", githubUrl);
  const name = `${repository?.owner}/${repository?.name}`;
  // GitHub ignores the case of a repository's name.
  return name.toLowerCase() === pushed.toLowerCase() ? null : `the repository is ${name}`;
}

function ignored(reason: string): PushOutcome {
  return { revision_id: null, message: `Ignored: ${reason}` };
}
