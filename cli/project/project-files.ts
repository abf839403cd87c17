import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, posix, resolve } from "node:path";
import type { Metafile } from "esbuild";
import ignore, { type Ignore } from "ignore";
import { TEXT_FILE_TYPES } from "../../src/lib/project-manifest.ts";
import type { ProjectConfig } from "./langgraph-json.ts";

const MAX_FILE_BYTES = 256 * 1024;
const MAX_TOTAL_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 500;
const MAX_DEPTH = 12;

/** Not for graphs to read: what package managers and compilers keep beside the sources. */
const NEVER = [
  "node_modules/",
  ".*",
  "*langgraph.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "tsconfig*.json",
  "*.tsbuildinfo",
];

export type ProjectFile = {
  /** In the project's folder, with `/`; the graphs find it at `/bundle/<path>`. */
  path: string;
  text: string;
};

export type ProjectFiles = { files: ProjectFile[]; warnings: string[] };

/**
 * The small text files of a project (prompts, data, configuration), which its graphs may read as files.
 * What git ignores stays behind, and so does `langgraph.json`, whose `env` may hold secrets. Files beyond
 * the limits are left out, and named in a warning.
 */
export async function readProjectFiles(
  project: Pick<ProjectConfig, "projectDir" | "configPath" | "envFile">,
): Promise<ProjectFiles> {
  const { projectDir } = project;
  const isIgnored = await ignoreRules(projectDir);
  const secret = new Set([project.configPath, project.envFile]);
  const files: ProjectFile[] = [];
  const tooLarge: string[] = [];
  let total = 0;
  for await (const path of textFiles(projectDir, "", isIgnored)) {
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

/** Whether anything in a bundle imports Node's file system: otherwise nobody could read a file. */
export function importsFileSystem({ inputs }: Metafile): boolean {
  return Object.values(inputs).some(({ imports }) =>
    imports.some(({ path }) => /(?:^|:)node:fs(?:\/promises)?$/.test(path)),
  );
}

/** In an order that does not depend on the file system. */
async function* textFiles(
  projectDir: string,
  folder: string,
  isIgnored: Ignore,
): AsyncGenerator<string> {
  if (folder.split("/").length > MAX_DEPTH) return;
  const entries = await readdir(resolve(projectDir, folder), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = posix.join(folder, entry.name);
    if (isIgnored.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
    if (entry.isDirectory()) yield* textFiles(projectDir, path, isIgnored);
    else if (entry.isFile() && TEXT_FILE_TYPES.has(extname(path).toLowerCase())) yield path;
  }
}

async function ignoreRules(projectDir: string): Promise<Ignore> {
  const rules = ignore().add(NEVER);
  try {
    return rules.add(await readFile(join(projectDir, ".gitignore"), "utf8"));
  } catch {
    // Most small projects have no such file.
    return rules;
  }
}

/** Null for bytes that are no UTF-8: no module of a Worker could hold them as text. */
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
  return `${shown}: not readable at run time, because at most ${MAX_FILES} text files of ${file} KiB each, ${total} KiB together, are shipped`;
}
