/**
 * Runs TypeScript over a project's graphs and sends their schemas to the parent, then waits to be killed.
 * This is a separate process because the compiler needs seconds and hundreds of megabytes.
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

/**
 * Extracts the schemas. The extractor is imported on demand, because it resolves TypeScript during its
 * evaluation.
 */
async function extract(requests: SchemaRequest[]): Promise<SchemaReply> {
  const { extractGraphSchemas } = await import("./extract-graph-schemas.ts");
  return extractGraphSchemas(requests);
}

/**
 * Makes the parent decide when this process ends, and not a signal that the terminal sends to both. When the
 * parent is killed, this process has to end by itself; TypeScript keeps this thread too busy to notice, so
 * another thread checks.
 */
function endWithParent(parentPid: number): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  const watch = `setInterval(() => {
    if (process.ppid !== ${parentPid}) process.kill(process.pid, "SIGKILL");
  }, ${PARENT_POLL_MS});`;
  new Worker(watch, { eval: true }).unref();
}

/**
 * Makes `require.resolve("typescript")` find the compiler with library files. The schema reader's virtual
 * file system looks for these files beside the path that this call returns in its own folder. That would be
 * the native compiler of this repository's checks, which ships no such files; `registerHooks` does not affect
 * `require.resolve`.
 */
function useOwnTypeScript(): void {
  type Resolve = (request: string, ...rest: unknown[]) => string;
  const loader = Module as unknown as { _resolveFilename: Resolve };
  const resolveFilename = loader._resolveFilename;
  const typescript = fileURLToPath(import.meta.resolve("typescript"));
  loader._resolveFilename = (request, ...rest) =>
    request === "typescript" ? typescript : resolveFilename(request, ...rest);
}
