import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { BUILT } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { writeWhole } from "../platform/write-whole.ts";
import { buildTarball } from "./tarball.ts";

/** The file of the module `#templates` of package.json. */
export const TEMPLATES_FILE = BUILT?.templates ?? join(REPO_ROOT, ".threadworks/templates.js");

const EXAMPLES = join(REPO_ROOT, "examples");

/** The inputs of the templates, besides installed packages. */
const INPUTS = ["examples", "src/graph-runtime", "src/lib", "cli/project", "package-lock.json"];

/**
 * Builds each folder of `examples` that has a `langgraph.json` into a tarball, and writes all of them into
 * the module that is shipped with the Worker. Does nothing while the module is newer than its inputs.
 */
export async function buildTemplates(): Promise<void> {
  if (BUILT !== undefined) return;
  const builtAt = statSync(TEMPLATES_FILE, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (INPUTS.every((input) => newestChange(join(REPO_ROOT, input)) < builtAt)) return;
  const templates: Record<string, string> = {};
  for (const [name, configPath] of templateProjects()) {
    const { bytes } = await buildTarball({ configPath });
    templates[name] = Buffer.from(bytes).toString("base64");
  }
  writeWhole(TEMPLATES_FILE, `export default ${JSON.stringify(templates)};\n`);
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
