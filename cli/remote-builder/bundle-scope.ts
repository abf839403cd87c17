import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ProjectConfig } from "../project/langgraph-json.ts";
import type { InstallPlan } from "./lockfile.ts";
import { files } from "./node-fs.ts";

type Scope = {
  /** Digest of the bundling code. */
  version: string;
  project: Pick<ProjectConfig, "projectDir" | "env">;
  /** The folder that has all of the project's own files. */
  repository: string;
  /** The folders of the installed packages, with digests of their contents. */
  installed: readonly { folder: string; digest: string }[];
  links: InstallPlan["links"];
};

/**
 * Returns a digest of everything that can affect the bundles of a project's packages, apart from what the
 * project uses of them: the bundler and its options, all installed packages, and the repository's manifests,
 * which determine how folders are resolved and what linked packages depend on. Bundling a package reads no
 * other file of the repository: a package that imports one is bundled with the project.
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

/** Yields the paths of manifests with their digests. */
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
