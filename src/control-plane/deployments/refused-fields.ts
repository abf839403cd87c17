import { notServed } from "../../http/not-served.ts";

const USE_SOURCE =
  "upload a built project and deploy it as internal_source, as `threadworks deploy` does";

const NO_COMMANDS = `Commands are not run here, the lockfile determines what is installed: commit the output of a command, or ${USE_SOURCE}`;
const NO_IMAGES = `Images are not run here: ${USE_SOURCE}`;
const NO_LISTENERS = "There are no listeners here: deployments run on the platform itself";

/** Sources of the API that are not supported here, with an alternative for each. */
export const REFUSED_SOURCES: Readonly<Record<string, string>> = {
  external_docker: NO_IMAGES,
  internal_docker: NO_IMAGES,
};

export const refusedConfig = {
  repo_branch: notServed("Give it as source_revision_config.repo_ref"),
  custom_url: notServed("The platform gives a deployment its URL: it cannot be chosen"),
  resource_spec: notServed("Deployments have no machines here whose size could be chosen"),
  listener_id: notServed(NO_LISTENERS),
  listener_config: notServed(NO_LISTENERS),
  install_command: notServed(NO_COMMANDS),
  build_command: notServed(NO_COMMANDS),
};

const trackedPackages = notServed(`Packages are not tracked here: ${USE_SOURCE}`);

export const refusedRevisionConfig = {
  repo_commit_sha: notServed("The platform sets it: give a commit as repo_ref"),
  image_uri: notServed(NO_IMAGES),
  tracked_packages: trackedPackages,
  deepagents_version: notServed("The platform does not look at versions of packages"),
};

export const refusedMembers = {
  secret_references: notServed("There are no Kubernetes secrets here: give the values as secrets"),
  tracked_packages: trackedPackages,
};
