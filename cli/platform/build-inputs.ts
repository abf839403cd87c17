import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { BUILT } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";

/** What bundles, besides its options: a change of it changes what comes out. */
const TOOLS_FOLDER = join(REPO_ROOT, "cli/project");
const OTHER_TOOLS = ["cli/platform/worker-bundle.ts", "package-lock.json"];

/** What package managers leave in a folder, and what says how its modules are resolved. */
const RESOLUTION = [
  "package.json",
  "tsconfig.json",
  "node_modules",
  "node_modules/.package-lock.json",
  "node_modules/.modules.yaml",
  "node_modules/.yarn-integrity",
  "node_modules/.yarn-state.yml",
];

/** What decides which modules the imports of these files are: other names beside them, and what is installed. */
export function resolvedBy(files: readonly string[]): string[] {
  const folders = new Set(files.map((file) => dirname(file)));
  const above = new Set(folders);
  // A set that grows while it is walked is walked to its end.
  for (const folder of above) above.add(dirname(folder));
  return [
    ...folders,
    ...[...above].flatMap((folder) => RESOLUTION.map((name) => join(folder, name))),
  ];
}

/** What bundles. */
export function toolFiles(): string[] {
  // All of a package is written when it is installed.
  if (BUILT !== undefined) return [join(REPO_ROOT, "package.json"), BUILT.config];
  const names = readdirSync(TOOLS_FOLDER);
  return [
    ...names.map((name) => join(TOOLS_FOLDER, name)),
    ...OTHER_TOOLS.map((name) => join(REPO_ROOT, name)),
  ];
}
