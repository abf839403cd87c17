import { z } from "@hono/zod-openapi";

const USE_SOURCE =
  "upload a built project and deploy it as internal_source, as `threadworks deploy` does";

const NO_GITHUB = `There is no GitHub integration here: ${USE_SOURCE}`;
const NO_BUILD = `Nothing is installed or built here: ${USE_SOURCE}`;
const NO_IMAGES = `Images are not run here: ${USE_SOURCE}`;
const NO_LISTENERS = "There are no listeners here: deployments run on the platform itself";

/** Sources that there are elsewhere, and what to do instead. */
export const REFUSED_SOURCES: Readonly<Record<string, string>> = {
  github: NO_GITHUB,
  external_docker: NO_IMAGES,
  internal_docker: NO_IMAGES,
};

export const refusedConfig = {
  integration_id: refused(NO_GITHUB),
  repo_url: refused(NO_GITHUB),
  repo_branch: refused(NO_GITHUB),
  build_on_push: refused(NO_GITHUB),
  custom_url: refused("The platform gives a deployment its URL: it cannot be chosen"),
  resource_spec: refused("Deployments have no machines here whose size could be chosen"),
  listener_id: refused(NO_LISTENERS),
  listener_config: refused(NO_LISTENERS),
  install_command: refused(NO_BUILD),
  build_command: refused(NO_BUILD),
};

const trackedPackages = refused(`Packages are not tracked here: ${USE_SOURCE}`);

export const refusedRevisionConfig = {
  repo_ref: refused(NO_GITHUB),
  repo_commit_sha: refused(NO_GITHUB),
  image_uri: refused(NO_IMAGES),
  tracked_packages: trackedPackages,
  deepagents_version: refused("The platform does not look at versions of packages"),
};

export const refusedMembers = {
  secret_references: refused("There are no Kubernetes secrets here: give the values as secrets"),
  tracked_packages: trackedPackages,
};

/** A field of the API that can only be null here. */
function refused(message: string) {
  return z
    .unknown()
    .superRefine((value, ctx) => {
      if (value == null) return;
      ctx.addIssue({ code: "custom", message, params: { type: "value_error" } });
    })
    .optional()
    .openapi({ type: "null", description: message });
}
