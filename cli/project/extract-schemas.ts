import { type ChildProcess, fork } from "node:child_process";
import { constants, setPriority } from "node:os";
import { extname, join } from "node:path";
import type { ReadSchemas } from "../../src/lib/remote-types.ts";
import { homeOf } from "../installation.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import {
  answerOf,
  describeProblem,
  type SchemaReply,
  type SchemaRequest,
  typedGraphs,
  withWarnings,
} from "./schema-answer.ts";
import { cacheKey, readAnswer, type TypesAnswer, writeAnswer } from "./schema-cache.ts";
import { mirrorProject } from "./type-mirror.ts";

/** The program beside this module, with the same extension: TypeScript, or what it was bundled to. */
const EXTRACTOR = join(
  import.meta.dirname,
  `schema-extractor-process${extname(import.meta.filename)}`,
);
const WORTH_A_WORD_MS = 2_000;

/** JSON schemas, keyed by graph id and then by graph or subgraph (`agent`, `agent|child`). */
export type ExtractedSchemas = TypesAnswer["schemas"];

/** The sources of schemas: a project, and the files of it that its graphs import. */
export type TypedSources = { project: ProjectConfig; sources: string[] };

export type FoundSchemas = { known: ReadSchemas } | { read: () => Promise<ReadSchemas> };

let mirrors = 0;

/**
 * Looks for the schemas of a project's TypeScript graphs, which are read from their types. Returns them as
 * `known` when they are cached for the same sources. Otherwise returns how to `read` them, which takes
 * seconds of CPU in a separate process of low priority. Reading rejects only when `signal` is aborted: graphs
 * without schemas are still served, so every failure is a warning.
 */
export async function findSchemas(
  { project, sources }: TypedSources,
  { repoRoot, signal }: { repoRoot: string; signal: AbortSignal },
): Promise<FoundSchemas> {
  const graphs = typedGraphs(project);
  if (graphs.length === 0) return { known: { schemas: {}, warnings: [] } };
  const typed = { ...project, graphs };
  const cacheDir = join(homeOf(project.projectDir), "cache");
  try {
    const key = cacheKey(typed, sources, repoRoot);
    const file = join(cacheDir, `schemas-${key}.json`);
    const before = await readAnswer(file);
    if (before !== undefined) return { known: withWarnings(before) };

    mirrors += 1;
    const mirrorDir = join(cacheDir, `types-${key}-${process.pid}-${mirrors}`);
    const read = async (): Promise<ReadSchemas> => {
      const answer = await readTypes(typed, { sources, mirrorDir, signal });
      await writeAnswer(file, answer);
      return withWarnings(answer);
    };
    return { read: () => read().catch((error: unknown) => failed(error, signal)) };
  } catch (error) {
    return { known: failed(error, signal) };
  }
}

function failed(error: unknown, signal: AbortSignal): ReadSchemas {
  signal.throwIfAborted();
  return { schemas: {}, warnings: [describeProblem((error as Error).message)] };
}

/** Reads the schemas and waits for them. Calls `onSlow` when that takes more than WORTH_A_WORD_MS. */
export async function extractSchemas(
  sources: TypedSources,
  options: { repoRoot: string; signal: AbortSignal; onSlow?: (() => void) | undefined },
): Promise<ReadSchemas> {
  const found = await findSchemas(sources, options);
  if ("known" in found) return found.known;
  const timer = setTimeout(() => options.onSlow?.(), WORTH_A_WORD_MS);
  return found.read().finally(() => clearTimeout(timer));
}

async function readTypes(
  project: ProjectConfig,
  options: { sources: string[]; mirrorDir: string; signal: AbortSignal },
): Promise<TypesAnswer> {
  const { projectDir, graphs } = project;
  const mirror = await mirrorProject({ projectDir, sources: options.sources }, options.mirrorDir);
  try {
    const requests = graphs.map(({ file, exportName }) => ({
      sourceFile: mirror.pathOf(file),
      exportSymbol: exportName,
    }));
    const reply = await runExtractor(requests, options.signal);
    return answerOf(graphs, reply);
  } finally {
    await mirror.remove();
  }
}

/** Runs the extractor. When its process ends by itself, for instance out of memory, every graph has a problem. */
async function runExtractor(requests: SchemaRequest[], signal: AbortSignal): Promise<SchemaReply> {
  signal.throwIfAborted();
  const child = fork(EXTRACTOR, [String(process.pid)], {
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  giveWay(child);
  const { promise, resolve, reject } = Promise.withResolvers<SchemaReply>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort);
  child.once("message", (reply: SchemaReply) => resolve(reply));
  child.once("error", reject);
  child.once("exit", (code, endedBy) => {
    const problem = `the extractor ended with ${endedBy ?? `exit code ${code}`}`;
    // The process was killed from outside, which says nothing about the project, so the next start tries again.
    if (endedBy === "SIGKILL") reject(new Error(problem));
    else resolve(requests.map(() => ({ problem })));
  });
  child.send(requests, (error) => error && reject(error));
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", abort);
    child.kill("SIGKILL");
  }
}

/** Lowers the priority of the process, so that runs of the server come first. */
function giveWay({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has ended already, or the system does not allow it.
  }
}
