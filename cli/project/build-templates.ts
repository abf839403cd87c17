import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { BUILT, CONSOLE_FOLDER, TEMPLATES_FILE } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { writeWhole } from "../platform/write-whole.ts";
import { buildTarball } from "./tarball.ts";

/** Stored beside the console's files, so that the platform reads them through the console's binding. */
export const TARBALLS_FOLDER = join(CONSOLE_FOLDER, "templates");

const EXAMPLES = join(REPO_ROOT, "examples");

/** The inputs of the templates, besides installed packages. */
const INPUTS = ["examples", "src/graph-runtime", "src/lib", "cli/project", "package-lock.json"];

/**
 * Builds each folder of `examples` that has a `langgraph.json` into a tarball beside the console's files, and
 * writes the module with their names, which is shipped with the Worker: the tarballs in a module would be
 * read by each isolate at its start. Does nothing while the module is newer than its inputs.
 */
export async function buildTemplates(): Promise<void> {
  if (BUILT !== undefined) return;
  const builtAt = statSync(TEMPLATES_FILE, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (
    existsSync(TARBALLS_FOLDER) &&
    INPUTS.every((input) => newestChange(join(REPO_ROOT, input)) < builtAt)
  )
    return;
  mkdirSync(TARBALLS_FOLDER, { recursive: true });
  const names: string[] = [];
  for (const [name, configPath] of templateProjects()) {
    const { bytes } = await buildTarball({ configPath });
    writeWhole(join(TARBALLS_FOLDER, `${name}.tar.gz`), bytes);
    names.push(name);
  }
  writeWhole(TEMPLATES_FILE, `export default ${JSON.stringify(names)};\n`);
}

/** Returns the name and the folder of each template. */
export function templateProjects(): [name: string, folder: string][] {
  return readdirSync(EXAMPLES)
    .toSorted()
    .map((name): [string, string] => [name, join(EXAMPLES, name)])
    .filter(([, folder]) => existsSync(join(folder, "langgraph.json")));
}

function newestChange(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isDirectory()) return stats?.mtimeMs ?? 0;
  const entries = readdirSync(path).map((entry) => newestChange(join(path, entry)));
  return Math.max(stats.mtimeMs, ...entries);
}
