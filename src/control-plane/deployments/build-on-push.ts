import { invalidField } from "../../lib/api-error.ts";
import { PUSH_SECRET } from "../../secrets/secret-names.ts";

/** The state that a deployment that builds on push would have after a request. */
type Wanted = {
  /** The requested features: builds of the deployed branch, or previews of other branches. */
  fields: readonly ("build_on_push" | "previews")[];
  isPreview: boolean;
  repoUrl: string | null;
  repoRef: string | null;
  secretNames: readonly string[];
};

const TAG_OR_COMMIT = /^(?:(?:refs\/)?tags\/.*|[0-9a-f]{40})$/;

/**
 * Returns the full ref of the branch whose pushes are built. A null `repoRef` stands for the repository's default
 * branch.
 */
export function pushedRef(repoRef: string | null, defaultBranch: string): string {
  return `refs/heads/${(repoRef ?? defaultBranch).replace(/^(?:refs\/)?heads\//, "")}`;
}

/** Throws a 422 when pushes could not be built, or could not be verified to come from GitHub. */
export function checkBuildOnPush(wanted: Wanted): void {
  const { fields, isPreview, repoUrl, repoRef, secretNames } = wanted;
  const [field] = fields;
  if (field === undefined) return;
  const loc = ["body", "source_config", field];
  if (isPreview) {
    const message = "It is a preview: the deployment that it belongs to builds its branch on push";
    throw invalidField(loc, message, "value_error");
  }
  if (repoUrl === null) {
    const message = "Only a deployment of source github has a repository that is pushed to";
    throw invalidField(loc, message, "value_error");
  }
  if (field === "build_on_push" && TAG_OR_COMMIT.test(repoRef ?? "")) {
    const message = `Only branches are built on push: repo_ref is ${JSON.stringify(repoRef)}`;
    throw invalidField(loc, message, "value_error");
  }
  if (secretNames.includes(PUSH_SECRET)) return;
  const message = `${field} needs the secret ${PUSH_SECRET}: the one that GitHub signs its webhooks with`;
  throw invalidField(["body", "secrets"], message, "value_error");
}
