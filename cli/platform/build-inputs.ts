import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { BUILT } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";

/** The sources of the bundling tools; a change in them changes the output. */
const TOOLS_FOLDER = join(REPO_ROOT, "cli/project");
const OTHER_TOOLS = ["cli/platform/worker-bundle.ts", "package-lock.json"];

/** Files and folders that package managers write, and the files that determine how modules are resolved. */
const RESOLUTION = [
  "package.json",
  "tsconfig.json",
  "node_modules",
  "node_modules/.package-lock.json",
  "node_modules/.modules.yaml",
  "node_modules/.yarn-integrity",
  "node_modules/.yarn-state.yml",
];

/**
 * Returns the files and folders that determine how the imports of these files resolve: the names in their
 * folders, and what is installed above them.
 */
export function resolvedBy(files: readonly string[]): string[] {
  const folders = new Set(files.map((file) => dirname(file)));
  const above = new Set(folders);
  // A set that grows during iteration is iterated to its end.
  for (const folder of above) above.add(dirname(folder));
  return [
    ...folders,
    ...[...above].flatMap((folder) => RESOLUTION.map((name) => join(folder, name))),
  ];
}

/** Returns the files of the bundling tools. */
export function toolFiles(): string[] {
  // All files of a package are written when it is installed, so two of them represent all.
  if (BUILT !== undefined) return [join(REPO_ROOT, "package.json"), BUILT.config];
  const names = readdirSync(TOOLS_FOLDER);
  return [
    ...names.map((name) => join(TOOLS_FOLDER, name)),
    ...OTHER_TOOLS.map((name) => join(REPO_ROOT, name)),
  ];
}
