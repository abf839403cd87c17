import { join, resolve } from "node:path";
import { installManifests } from "../../support/installed-manifests.ts";

/** Each folder has a lockfile; the projects in `current` are workspaces that share one. */
const GROUPS = resolve(import.meta.dirname, "../projects");

/** Installs the packages of a group of projects, and returns the folder. */
export function installGroup(group: string): Promise<string> {
  return installManifests(join(GROUPS, group), { kind: "real-projects", name: group });
}

/** Returns the folder with a project's sources, such as `current/store`. */
export function projectSource(path: string): string {
  return join(GROUPS, path);
}
