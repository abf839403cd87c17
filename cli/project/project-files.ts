import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, extname, join, relative, sep } from "node:path";
import type { Metafile } from "esbuild";
import ignore, { type Ignore } from "ignore";
import { TEXT_FILE_TYPES } from "../../src/lib/project-manifest.ts";
import type { ProjectConfig } from "./langgraph-json.ts";

const MAX_FILE_BYTES = 256 * 1024;
const MAX_TOTAL_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 500;
const MAX_DEPTH = 12;

/** Files that are never shipped: those that package managers and compilers write, and names that suggest secrets. */
const NEVER = ignore().add([
  "node_modules/",
  ".*",
  "*langgraph*.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "tsconfig*.json",
  "threadworks.json",
  "*credential*",
  "*secret*",
  "*service-account*",
  "*service_account*",
]);

/** The names that both a tarball and a Worker's modules can have. */
const POSSIBLE_PATH = /^[^\\:\p{Cc}]{1,255}$/u;

/** A `.gitignore`, and the folder that its paths are relative to. */
type Rules = { folder: string; ignores: Ignore };

export type ProjectFile = {
  /** Path relative to the project's folder, with `/`; the graphs find the file at `/bundle/<path>`. */
  path: string;
  text: string;
};

export type ProjectFiles = { files: ProjectFile[]; warnings: string[] };

/**
 * Returns the small text files of a project (prompts, data, configuration), which its graphs may read as
 * files. Files that a `.gitignore` names are left out, and so are hidden files and `langgraph.json`, whose
 * `env` may hold secrets. Files beyond the limits are left out and named in a warning.
 */
export async function readProjectFiles(
  project: Pick<ProjectConfig, "projectDir" | "configPath" | "envFile">,
): Promise<ProjectFiles> {
  const { projectDir } = project;
  const secret = new Set([project.configPath, project.envFile]);
  const files: ProjectFile[] = [];
  const tooLarge: string[] = [];
  let total = 0;
  for await (const path of filesBelow(projectDir, NEVER)) {
    if (!TEXT_FILE_TYPES.has(extname(path))) continue;
    const absolute = join(projectDir, path);
    if (secret.has(absolute)) continue;
    const { size } = await stat(absolute);
    if (size > MAX_FILE_BYTES || total + size > MAX_TOTAL_BYTES || files.length === MAX_FILES) {
      tooLarge.push(path);
      continue;
    }
    const text = await readText(absolute);
    if (text === null) continue;
    total += size;
    files.push({ path, text });
  }
  return { files, warnings: tooLarge.length === 0 ? [] : [leftOut(tooLarge)] };
}

/** Returns whether any module of a bundle imports Node's file system; without it no file can be read. */
export function importsFileSystem({ inputs }: Metafile): boolean {
  return Object.values(inputs).some(({ imports }) =>
    imports.some(({ path }) => /(?:^|:)node:fs(?:\/promises)?$/.test(path)),
  );
}

/**
 * Yields the paths of the files below a folder that neither a `.gitignore` nor `never` excludes, relative to
 * the folder and with `/`, in an order that does not depend on the file system.
 */
export async function* filesBelow(root: string, never: Ignore): AsyncGenerator<string> {
  yield* walk({ root, never }, root, await rulesAbove(root));
}

async function* walk(
  from: { root: string; never: Ignore },
  folder: string,
  above: readonly Rules[],
): AsyncGenerator<string> {
  const depth = relative(from.root, folder).split(sep).length;
  if (depth > MAX_DEPTH) return;
  const rules = [...above, ...(await rulesOf(folder))];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const absolute = join(folder, entry.name);
    const path = slashed(relative(from.root, absolute));
    const isFolder = entry.isDirectory();
    if (!POSSIBLE_PATH.test(path) || from.never.ignores(isFolder ? `${path}/` : path)) continue;
    if (rules.some((rule) => isIgnored(rule, absolute, isFolder))) continue;
    if (isFolder) yield* walk(from, absolute, rules);
    else if (entry.isFile()) yield path;
  }
}

function isIgnored({ folder, ignores }: Rules, absolute: string, isFolder: boolean): boolean {
  const path = slashed(relative(folder, absolute));
  return ignores.ignores(isFolder ? `${path}/` : path);
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}

/** Returns the rules of the folders above a project, up to that of its repository. */
async function rulesAbove(projectDir: string): Promise<Rules[]> {
  const rules: Rules[] = [];
  let folder = projectDir;
  while (!existsSync(join(folder, ".git"))) {
    const parent = dirname(folder);
    // The project is in no repository, so files above it do not apply.
    if (parent === folder) return [];
    folder = parent;
    rules.unshift(...(await rulesOf(folder)));
  }
  return rules;
}

async function rulesOf(folder: string): Promise<Rules[]> {
  try {
    return [{ folder, ignores: ignore().add(await readFile(join(folder, ".gitignore"), "utf8")) }];
  } catch {
    // Most folders have no such file.
    return [];
  }
}

/** Returns the file's text; null when it is not UTF-8, since a Worker's module could not hold it as text. */
async function readText(path: string): Promise<string | null> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch {
    return null;
  }
}

function leftOut(paths: string[]): string {
  const shown =
    paths.slice(0, 5).join(", ") + (paths.length > 5 ? ` and ${paths.length - 5} more` : "");
  const [file, total] = [MAX_FILE_BYTES, MAX_TOTAL_BYTES].map((bytes) => bytes / 1024);
  return `Graphs cannot read ${shown}: at most ${MAX_FILES} text files, of ${file} KiB each and ${total} KiB together, are shipped`;
}
