import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ProjectConfig } from "../project/langgraph-json.ts";
import type { InstallPlan } from "./lockfile.ts";
import { files } from "./node-fs.ts";

type Scope = {
  /** Of all that bundles. */
  version: string;
  project: Pick<ProjectConfig, "projectDir" | "env">;
  /** The folder that has all of the project's own files. */
  repository: string;
  /** The folders of the installed packages, with the digests of what is in them. */
  installed: readonly { folder: string; digest: string }[];
  links: InstallPlan["links"];
};

/**
 * A digest of what decides the bundles of a project's packages, whatever the project asks of them: who bundles, by which
 * options, all installed packages, and the manifests of the repository. Those say how the folders below them are taken,
 * and what packages depend on that are links. No other file of a repository is looked at when a package is bundled:
 * one that imports such a file is bundled with the project.
 */
export function bundleScope({ version, project, repository, installed, links }: Scope): string {
  const parts = [
    version,
    project.projectDir,
    project.env["NODE_ENV"] ?? null,
    installed.map(({ folder, digest }) => `${folder} ${digest}`).toSorted(),
    links.map(({ path, target }) => `${path} ${target}`).toSorted(),
    [...manifestsIn(repository)],
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** The paths of manifests with their digests. */
function* manifestsIn(folder: string): Generator<[path: string, digest: string]> {
  const entries = files.names(folder).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, kind } of entries) {
    const path = join(folder, name);
    if (kind === "folder" && name !== "node_modules") yield* manifestsIn(path);
    if (kind === "file" && name === "package.json") {
      yield [path, createHash("sha256").update(files.read(path)).digest("hex")];
    }
  }
}
