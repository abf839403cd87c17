/**
 * Runs TypeScript over a project's graphs and answers with their schemas, then waits to be ended.
 * A process of its own, because the compiler needs seconds and hundreds of megabytes.
 */
import Module from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { SchemaReply, SchemaRequest } from "./schema-answer.ts";

const PARENT_POLL_MS = 500;

useOwnTypeScript();
endWithParent(Number(process.argv[2]));

process.once("message", (requests: SchemaRequest[]) => {
  void extract(requests).then((reply) => process.send?.(reply));
});

/** The extractor is imported only now: it asks for TypeScript as soon as it is. */
async function extract(requests: SchemaRequest[]): Promise<SchemaReply> {
  const { extractGraphSchemas } = await import("./extract-graph-schemas.ts");
  return extractGraphSchemas(requests);
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
