import { notServed } from "../../http/not-served.ts";

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
  integration_id: notServed(NO_GITHUB),
  repo_url: notServed(NO_GITHUB),
  repo_branch: notServed(NO_GITHUB),
  build_on_push: notServed(NO_GITHUB),
  custom_url: notServed("The platform gives a deployment its URL: it cannot be chosen"),
  resource_spec: notServed("Deployments have no machines here whose size could be chosen"),
  listener_id: notServed(NO_LISTENERS),
  listener_config: notServed(NO_LISTENERS),
  install_command: notServed(NO_BUILD),
  build_command: notServed(NO_BUILD),
};

const trackedPackages = notServed(`Packages are not tracked here: ${USE_SOURCE}`);

export const refusedRevisionConfig = {
  repo_ref: notServed(NO_GITHUB),
  repo_commit_sha: notServed(NO_GITHUB),
  image_uri: notServed(NO_IMAGES),
  tracked_packages: trackedPackages,
  deepagents_version: notServed("The platform does not look at versions of packages"),
};

export const refusedMembers = {
  secret_references: notServed("There are no Kubernetes secrets here: give the values as secrets"),
  tracked_packages: trackedPackages,
};
