import { InvalidRun } from "./ingest/decode/invalid-run.ts";
import { readRun } from "./ingest/decode/run-body.ts";
import { IngestSession } from "./ingest/ingest-session.ts";

/**
 * Stores runs that the platform itself has traced, given as raw run objects of the tracing API, in a project
 * of the workspace. Throws if one of them could not be stored. Repeating the call is harmless.
 */
export async function recordRuns(
  env: Env,
  workspaceId: string,
  projectName: string,
  operations: { post: unknown[]; patch: unknown[] },
): Promise<void> {
  const background: Promise<unknown>[] = [];
  const session = new IngestSession(env, workspaceId, (promise) => background.push(promise));
  const invalid: string[] = [];
  for (const kind of ["post", "patch"] as const) {
    for (const operation of operations[kind]) {
      try {
        const write = readRun(kind, operation, { identity: "required" });
        await session.add({ ...write, project: { name: projectName } });
      } catch (error) {
        if (!(error instanceof InvalidRun)) throw error;
        invalid.push(`${error.runId ?? "a run"}: ${error.field} ${error.message}`);
      }
    }
  }
  await session.flush();
  await Promise.all(background);
  const problems = [...invalid, ...session.failures.map(({ message }) => message)];
  if (problems.length > 0) throw new Error(`not recorded: ${problems.join("; ")}`);
}
