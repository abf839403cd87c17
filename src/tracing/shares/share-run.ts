import { findShareByToken, type RunShareRow, shareRun } from "../../db/run-shares-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { PlacedRun } from "../query/run-source.ts";

/** Shares a run and what is below it, under the token that is asked for or a new one. */
export async function shareOneRun(
  db: D1Database,
  { run, ref }: PlacedRun,
  token: string | null,
): Promise<RunShareRow> {
  const taken = token === null ? undefined : await findShareByToken(db, token);
  if (taken !== undefined && (taken.workspace_id !== ref.workspaceId || taken.run_id !== run.id)) {
    throw new ApiError("conflict", `The share token ${token} is taken`);
  }
  return shareRun(db, { ...shareOf({ run, ref }, run.id), token: token ?? crypto.randomUUID() });
}

/** Shares the whole trace of a run: one that is shared already keeps its token. */
export async function shareTrace(db: D1Database, placed: PlacedRun): Promise<RunShareRow> {
  return shareRun(db, shareOf(placed, placed.run.trace_id));
}

function shareOf({ run, ref }: PlacedRun, runId: string): RunShareRow {
  return {
    token: crypto.randomUUID(),
    workspace_id: ref.workspaceId,
    project_id: ref.projectId,
    trace_id: run.trace_id,
    run_id: runId,
    created_at: Date.now(),
  };
}
