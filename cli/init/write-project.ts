import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { CliError } from "../cli-error.ts";
import { deploymentName } from "../deploy/deployment-name.ts";
import { REPO_ROOT } from "../invocation.ts";
import { ownDependency } from "./own-dependency.ts";
import { templateManifest } from "./template-manifest.ts";

const TEMPLATE = join(REPO_ROOT, "template");

/** Names that the template stores differently, because npm leaves such files out of packages or interprets them. */
const NAMES: Readonly<Record<string, string>> = {
  gitignore: ".gitignore",
  env: ".env",
  github: ".github",
};

/**
 * Writes a project with an agent, its test and its CI into a folder, which is created if needed. Returns the
 * names of its files. Throws a `CliError` that lists the files that exist already: nothing is overwritten.
 */
export function writeProject(folder: string): string[] {
  const files = readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(TEMPLATE, join(entry.parentPath, entry.name)))
    .map((from) => ({ from: join(TEMPLATE, from), to: nameInProject(from) }));
  const names = [...files.map(({ to }) => to), "package.json"].toSorted();
  const taken = names.filter((name) => existsSync(join(folder, name)));
  if (taken.length > 0) {
    throw new CliError(`${folder} has ${taken.join(", ")} already: name another folder`);
  }
  try {
    mkdirSync(folder, { recursive: true });
    for (const { from, to } of files) cpSync(from, join(folder, to));
    const name = deploymentName(basename(folder).toLowerCase());
    const manifest = templateManifest(name, ownDependency(folder));
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  } catch (error) {
    throw new CliError(`${folder} cannot be written: ${(error as Error).message}`);
  }
  return names;
}

function nameInProject(path: string): string {
  const [first = "", ...rest] = path.split(/[\\/]/);
  return join(NAMES[first] ?? first, ...rest);
}
