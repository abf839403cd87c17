import { InvalidRun } from "./ingest/decode/invalid-run.ts";
import { readRun } from "./ingest/decode/run-body.ts";
import { IngestSession } from "./ingest/ingest-session.ts";

/** Creates and updates of runs in the format of the tracing API. */
export type TraceOperations = { post: unknown[]; patch: unknown[] };

/**
 * Stores runs that the platform itself has traced, in a project of the workspace. Returns for each batch what could
 * not be stored of it, or null. Throws if nothing may have been stored. Repeating the call is harmless.
 */
export async function recordRuns(
  env: Env,
  workspaceId: string,
  projectName: string,
  batches: readonly TraceOperations[],
): Promise<(string | null)[]> {
  const background: Promise<unknown>[] = [];
  const session = new IngestSession(env, workspaceId, (promise) => background.push(promise));
  const problems = batches.map((): string[] => []);
  const batchOf = new Map<string, number>();
  for (const [index, operations] of batches.entries()) {
    for (const kind of ["post", "patch"] as const) {
      for (const operation of operations[kind]) {
        try {
          const write = readRun(kind, operation, { identity: "required" });
          batchOf.set(write.id, index);
          await session.add({ ...write, project: { name: projectName } });
        } catch (error) {
          if (!(error instanceof InvalidRun)) throw error;
          problems[index]?.push(`${error.runId ?? "a run"}: ${error.field} ${error.message}`);
        }
      }
    }
  }
  await session.flush();
  await Promise.all(background);
  for (const { runId, message } of session.failures) {
    problems[batchOf.get(runId ?? "") ?? 0]?.push(message);
  }
  return problems.map((found) => (found.length === 0 ? null : found.join("; ")));
}
