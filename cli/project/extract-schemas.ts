import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative, resolve, sep } from "node:path";
import type { GraphSource, ProjectConfig } from "./langgraph-json.ts";

const EXTRACTOR = join(import.meta.dirname, "schema-extractor-process.ts");
const EXTRACTOR_VERSION = 1;
const TIMEOUT_MS = 30_000;
const MAX_CACHED = 20;
const TYPED_EXTENSIONS = new Set([".ts", ".mts", ".tsx"]);
const RELATIVE_IMPORT = /(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

/** JSON schemas by graph id, then by graph or subgraph (`agent`, `agent|child`). */
export type ExtractedSchemas = Record<string, GraphSchemas>;
type GraphSchemas = Record<
  string,
  { state?: unknown; input?: unknown; output?: unknown; config?: unknown }
>;

export type SchemaRequest = { sourceFile: string; exportSymbol: string };
export type SchemaReply =
  | { ok: true; schemas: (GraphSchemas | null)[] }
  | { ok: false; message: string };

/**
 * Reads the schemas of a project's TypeScript graphs from their types, in a process of its own.
 * Never throws: a graph without schemas is still served, so every failure becomes a warning.
 */
export async function extractSchemas(options: {
  project: ProjectConfig;
  /** The project's bundled files, which the cached answer depends on. */
  sources: string[];
  repoRoot: string;
}): Promise<{ schemas: ExtractedSchemas; warnings: string[] }> {
  const { project, repoRoot } = options;
  const graphs = project.graphs.filter(({ file }) => TYPED_EXTENSIONS.has(extname(file)));
  if (graphs.length === 0) return { schemas: {}, warnings: [] };

  const cacheDir = join(repoRoot, ".threadworks/cache");
  const key = cacheKey(graphs, project, withTypeOnlyImports(options.sources));
  const cacheFile = join(cacheDir, `schemas-${key}.json`);
  try {
    const cached = await readCache(cacheFile);
    if (cached !== undefined) return { schemas: cached, warnings: [] };
    const schemas = await extract(graphs, options, join(cacheDir, `types-${key}-${process.pid}`));
    await writeCache(cacheFile, schemas);
    return { schemas, warnings: [] };
  } catch (error) {
    const reason = (error as Error).message.split("\n")[0];
    return {
      schemas: {},
      warnings: [`no schemas could be read from the graphs' types: ${reason}`],
    };
  }
}

async function extract(
  graphs: GraphSource[],
  options: { project: ProjectConfig; sources: string[] },
  mirrorDir: string,
): Promise<ExtractedSchemas> {
  const root = commonDirectory([options.project.projectDir, ...options.sources.map(dirname)]);
  try {
    await mirrorProject(root, options.project.projectDir, mirrorDir);
    const requests = graphs.map(({ file, exportName }) => ({
      sourceFile: join(mirrorDir, relative(root, file)),
      exportSymbol: exportName,
    }));
    const found = await runExtractor(requests);
    return Object.fromEntries(
      graphs.flatMap(({ id, exportName }, index) => {
        const schemas = found[index];
        return schemas == null ? [] : [[id, underGraphId(schemas, exportName, id)]];
      }),
    );
  } finally {
    await rm(mirrorDir, { recursive: true, force: true });
  }
}

/** The reader names a graph and its subgraphs by the export; who asks knows the graph's id. */
function underGraphId(schemas: GraphSchemas, exportName: string, id: string): GraphSchemas {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [id + name.slice(exportName.length), schema]),
  );
}

/**
 * Shows the project to TypeScript from inside this repository, by symbolic links, so that what the
 * project has not installed is found in this repository's `node_modules`, and under compiler options
 * that resolve modules as the bundler does.
 */
async function mirrorProject(from: string, projectDir: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const isProject = from === projectDir;
  const next = isProject ? undefined : relative(from, projectDir).split(sep)[0];
  const hidden = new Set(["tsconfig.json", ".threadworks", ".git"]);
  for (const entry of await readdir(from)) {
    if (entry === next) await mirrorProject(join(from, entry), projectDir, join(to, entry));
    else if (!isProject || !hidden.has(entry)) await symlink(join(from, entry), join(to, entry));
  }
  if (!isProject) return;
  const ownConfig = join(projectDir, "tsconfig.json");
  const tsconfig = {
    ...(existsSync(ownConfig) ? { extends: ownConfig } : {}),
    compilerOptions: {
      target: "es2024",
      lib: ["es2024", "dom"],
      module: "preserve",
      moduleResolution: "bundler",
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
      types: ["node"],
    },
    files: [],
    include: [],
  };
  await writeFile(join(to, "tsconfig.json"), JSON.stringify(tsconfig));
}

function runExtractor(requests: SchemaRequest[]): Promise<(GraphSchemas | null)[]> {
  const child = fork(EXTRACTOR, { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const { promise, resolve: succeed, reject } = Promise.withResolvers<(GraphSchemas | null)[]>();
  const timer = setTimeout(
    () => reject(new Error(`TypeScript took longer than ${TIMEOUT_MS / 1000} s`)),
    TIMEOUT_MS,
  );
  child.once("message", (reply: SchemaReply) => {
    if (reply.ok) succeed(reply.schemas);
    else reject(new Error(reply.message));
  });
  child.once("error", reject);
  child.once("exit", (code, signal) =>
    reject(new Error(`the extractor ended with ${signal ?? `exit code ${code}`}`)),
  );
  child.send(requests);
  return promise.finally(() => {
    clearTimeout(timer);
    child.kill("SIGKILL");
  });
}

/** Adds the files reached by relative imports, which include those of types that no bundle contains. */
function withTypeOnlyImports(sources: string[]): string[] {
  const seen = new Set(sources);
  for (const file of seen) {
    if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(RELATIVE_IMPORT)) {
      if (specifier === undefined) continue;
      const target = resolve(dirname(file), specifier);
      const stem = target.replace(/\.[cm]?[jt]sx?$/, "");
      const candidates = [".ts", ".mts", ".tsx", ".d.ts", "/index.ts"].map((end) => stem + end);
      const found = [target, ...candidates].find((path) => isFile(path));
      if (found !== undefined) seen.add(found);
    }
  }
  return [...seen];
}

function cacheKey(graphs: GraphSource[], project: ProjectConfig, sources: string[]): string {
  const hash = createHash("sha256").update(
    JSON.stringify([
      EXTRACTOR_VERSION,
      graphs.map(({ id, file, exportName }) => [id, file, exportName]),
    ]),
  );
  const config = join(project.projectDir, "tsconfig.json");
  for (const file of [...sources, config].toSorted()) {
    if (isFile(file)) hash.update(`\0${file}\0`).update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 32);
}

async function readCache(file: string): Promise<ExtractedSchemas | undefined> {
  if (!existsSync(file)) return undefined;
  return JSON.parse(await readFile(file, "utf8")) as ExtractedSchemas;
}

async function writeCache(file: string, schemas: ExtractedSchemas): Promise<void> {
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, JSON.stringify(schemas));
  await rename(partial, file);
  await forgetOldest(dirname(file));
}

/** Removes all but the newest answers, and mirrors whose process died. */
async function forgetOldest(cacheDir: string): Promise<void> {
  const entries = (await readdir(cacheDir)).map((name) => {
    const path = join(cacheDir, name);
    return { name, path, modified: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  const answers = entries
    .filter(({ name }) => name.startsWith("schemas-"))
    .toSorted((a, b) => b.modified - a.modified);
  const mirrors = entries.filter(
    ({ name, modified }) => name.startsWith("types-") && modified < Date.now() - 2 * TIMEOUT_MS,
  );
  const old = [...answers.slice(MAX_CACHED), ...mirrors];
  await Promise.all(old.map(({ path }) => rm(path, { recursive: true, force: true })));
}

function commonDirectory(directories: string[]): string {
  const [first = sep, ...others] = directories;
  let common = first;
  while (!others.every((path) => path === common || path.startsWith(common + sep))) {
    const parent = dirname(common);
    if (parent === common) break;
    common = parent;
  }
  return common;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
