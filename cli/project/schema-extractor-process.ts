/**
 * Runs TypeScript over a project's graphs and answers with their schemas, then waits to be ended.
 * A process of its own, because the compiler needs seconds and hundreds of megabytes.
 */
import Module from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { SchemaReply, SchemaRequest } from "./extract-schemas.ts";

const PARENT_POLL_MS = 500;

useOwnTypeScript();
endWithParent(Number(process.argv[2]));

process.once("message", (requests: SchemaRequest[]) => {
  void extract(requests).then((reply) => process.send?.(reply));
});

/** All in one program, which is fastest; one by one when that fails, for those that have schemas. */
async function extract(requests: SchemaRequest[]): Promise<SchemaReply> {
  try {
    return await extractTogether(requests);
  } catch (error) {
    if (requests.length <= 1) return requests.map(() => ({ problem: messageOf(error) }));
    const replies: SchemaReply = [];
    for (const request of requests) replies.push(...(await extract([request])));
    return replies;
  }
}

async function extractTogether(requests: SchemaRequest[]): Promise<SchemaReply> {
  const { getStaticGraphSchema } = await import("@langchain/langgraph-api/schema");
  const byIndex = Object.fromEntries(requests.map((request, index) => [String(index), request]));
  const found = await getStaticGraphSchema(byIndex, { mainThread: true });
  return requests.map((_, index) => ({ schemas: { ...found[String(index)] } }));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The parent decides when this process ends, and not a signal that the terminal sends to both. A parent
 * that is killed decides nothing, and TypeScript keeps this thread too busy to notice: another one looks.
 */
function endWithParent(parentPid: number): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  const watch = `setInterval(() => {
    if (process.ppid !== ${parentPid}) process.kill(process.pid, "SIGKILL");
  }, ${PARENT_POLL_MS});`;
  new Worker(watch, { eval: true }).unref();
}

/**
 * The schema reader's virtual file system looks for TypeScript's library files beside whatever
 * `require.resolve("typescript")` names from its own folder. That is the native compiler of this
 * repository's checks, which ships no such files; `registerHooks` does not reach `require.resolve`.
 */
function useOwnTypeScript(): void {
  type Resolve = (request: string, ...rest: unknown[]) => string;
  const loader = Module as unknown as { _resolveFilename: Resolve };
  const resolveFilename = loader._resolveFilename;
  const typescript = fileURLToPath(import.meta.resolve("typescript"));
  loader._resolveFilename = (request, ...rest) =>
    request === "typescript" ? typescript : resolveFilename(request, ...rest);
}
