import type { ListedDeployment } from "../../db/deployments-repo.ts";
import { pushedRef } from "./build-on-push.ts";
import { storedConfig } from "./deployment-json.ts";
import type { DeploymentDeps } from "./deps.ts";
import { requireKeptDeployment } from "./find-deployments.ts";
import type { Push } from "./push-event.ts";
import { parseRepositoryUrl } from "./repository-url.ts";
import { addRevision } from "./revision-service.ts";
import { nextSource } from "./revision-source.ts";

type Building = Pick<
  DeploymentDeps,
  "db" | "workspaceId" | "encryptionKeys" | "githubUrl" | "plan" | "requestWork"
>;

/** What has come of a push; the revision is null where the push is none of the deployment's. */
type PushOutcome = { revision_id: string | null; message: string };

/** Makes a revision of what was pushed, unless the deployment builds another branch, or has this push or a later one. */
export async function buildPush(
  deps: Building,
  deploymentId: string,
  push: Push,
): Promise<PushOutcome> {
  const reason = reasonToIgnore(await requireKeptDeployment(deps, deploymentId), push, deps);
  if (reason !== null) return { revision_id: null, message: `Ignored: ${reason}` };
  const { id, isNew } = await addRevision(deps, deploymentId, ({ deployment, revision }) => {
    const { repo_url: repoUrl = null, last_push } = storedConfig(deployment);
    if (isBuilt(push, revision.repo_commit_sha, last_push)) return null;
    const asked = { source: "github", config: {} } as const;
    return {
      source: {
        ...nextSource(revision, { templateId: null, repoUrl }, asked),
        repo_commit_sha: push.commit,
      },
      secrets: [],
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
  { deployment, revision }: ListedDeployment,
  push: Push,
  { githubUrl }: Pick<Building, "githubUrl">,
): string | null {
  const { repo_url: url, build_on_push } = storedConfig(deployment);
  if (build_on_push !== true) return "the deployment does not build on push";
  if (revision.source !== "github") return "the latest revision is not of a repository";
  const repository = parseRepositoryUrl(url ?? "", githubUrl);
  const name = `${repository?.owner}/${repository?.name}`;
  // GitHub finds a repository whatever the case of its name.
  if (name.toLowerCase() !== push.repository.toLowerCase()) return `the repository is ${name}`;
  const ref = pushedRef(revision.repo_ref, push.defaultBranch);
  if (push.ref !== ref) return `only pushes to ${ref} are built`;
  return push.isDeletion ? "the branch was deleted" : null;
}

/** GitHub sends events again and in any order; a branch may also go back to a commit that was built before. */
function isBuilt(
  { commit, pushedAt }: Push,
  latest: string | null,
  last: { commit: string; pushed_at: number } | undefined,
): boolean {
  if (commit === latest) return true;
  if (last === undefined || pushedAt > last.pushed_at) return false;
  return pushedAt < last.pushed_at || commit === last.commit;
}
