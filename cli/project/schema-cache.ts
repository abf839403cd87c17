import { createHash, type Hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isAlive } from "../platform/running-platform.ts";
import { isFile } from "./module-export.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import { withTypeOnlyImports } from "./type-imports.ts";

/** Version of the cached answers, and of the code that reads them from the types. */
const VERSION = 2;
const MAX_CACHED = 20;

/** Files in `node_modules` that package managers rewrite when they change what is installed. */
const INSTALL_MARKS = [".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"];

const schemas = z.record(z.string(), z.unknown());

/** Schemas by graph id and then by graph or subgraph, and by graph id the reason why there are none. */
const typesAnswer = z.object({
  schemas: z.record(z.string(), z.record(z.string(), schemas)),
  problems: z.record(z.string(), z.string()),
});
export type TypesAnswer = z.infer<typeof typesAnswer>;

/** Returns the cache key for this state of a project's sources, options and installed packages. */
export function cacheKey(project: ProjectConfig, sources: string[], repoRoot: string): string {
  const { graphs, projectDir } = project;
  const named = graphs.map(({ id, file, exportName }) => [id, file, exportName]);
  const hash = createHash("sha256").update(JSON.stringify([VERSION, named]));
  const tsconfig = join(projectDir, "tsconfig.json");
  const files = [...withTypeOnlyImports(sources, tsconfig), tsconfig];
  for (const file of files.toSorted()) addFile(hash, file);
  for (const folder of new Set([...ancestors(projectDir), repoRoot])) {
    for (const mark of INSTALL_MARKS) addFile(hash, join(folder, "node_modules", mark));
  }
  return hash.digest("hex").slice(0, 32);
}

/** Reads a cached answer. Returns undefined when there is none, or it cannot be read. */
export async function readAnswer(file: string): Promise<TypesAnswer | undefined> {
  try {
    return typesAnswer.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    // The schemas are then read from the types again, and written again.
    return undefined;
  }
}

export async function writeAnswer(file: string, answer: TypesAnswer): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, JSON.stringify(answer));
  await rename(partial, file);
  await forgetOldest(dirname(file));
}

/** Removes all but the newest answers, and mirrors (`types-<key>-<pid>-<n>`) whose process died. */
async function forgetOldest(cacheDir: string): Promise<void> {
  const entries = (await readdir(cacheDir)).map((name) => {
    const path = join(cacheDir, name);
    return { name, path, modified: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  const answers = entries
    .filter(({ name }) => name.startsWith("schemas-"))
    .toSorted((a, b) => b.modified - a.modified);
  const mirrors = entries.filter(({ name }) => {
    const pid = /^types-\w+-(\d+)/.exec(name)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
  const old = [...answers.slice(MAX_CACHED), ...mirrors];
  await Promise.all(old.map(({ path }) => rm(path, { recursive: true, force: true })));
}

function addFile(hash: Hash, file: string): void {
  if (isFile(file)) hash.update(`\0${file}\0`).update(readFileSync(file));
}

/** Returns a folder and all those above it, in which Node looks for modules. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}
