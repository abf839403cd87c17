import { invalidField } from "../../lib/api-error.ts";
import { PUSH_SECRET } from "../../secrets/secret-names.ts";

/** What a deployment that builds on push would be after a request. */
type Wanted = { repoUrl: string | null; repoRef: string | null; secretNames: readonly string[] };

const FIELD = ["body", "source_config", "build_on_push"];

const TAG_OR_COMMIT = /^(?:(?:refs\/)?tags\/.*|[0-9a-f]{40})$/;

/** The whole name of the branch whose pushes are built. `repoRef` null is the repository's default branch. */
export function pushedRef(repoRef: string | null, defaultBranch: string): string {
  return `refs/heads/${(repoRef ?? defaultBranch).replace(/^(?:refs\/)?heads\//, "")}`;
}

/** It throws a 422 where pushes could not be built, or nobody could tell that they are GitHub's. */
export function checkBuildOnPush({ repoUrl, repoRef, secretNames }: Wanted): void {
  if (repoUrl === null) {
    const message = "Only a deployment of source github has a repository that is pushed to";
    throw invalidField(FIELD, message, "value_error");
  }
  if (TAG_OR_COMMIT.test(repoRef ?? "")) {
    const message = `Only branches are built on push: repo_ref is ${JSON.stringify(repoRef)}`;
    throw invalidField(FIELD, message, "value_error");
  }
  if (secretNames.includes(PUSH_SECRET)) return;
  const message = `build_on_push needs the secret ${PUSH_SECRET}: the one that GitHub signs its webhooks with`;
  throw invalidField(["body", "secrets"], message, "value_error");
}
