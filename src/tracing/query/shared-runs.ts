import { findShareByToken, type RunShareRow, shareRun } from "../../db/run-shares-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import { ancestorIds } from "../model/dotted-order.ts";
import type { RunPosition } from "../model/run-page.ts";
import type { PayloadField } from "../model/run-write.ts";
import { findRuns, requireRun } from "./find-runs.ts";
import type { PlacedRun } from "./run-source.ts";
import type { RunSelection } from "../shard/selection.ts";

const PAGE = 100;

/** Returns the share of a token. Throws a 404 if there is none. */
export async function findShare(db: D1Database, token: string): Promise<RunShareRow> {
  const share = await findShareByToken(db, token);
  if (share === undefined) throw nothingShared();
  return share;
}

export function nothingShared(): ApiError {
  return new ApiError("not_found", "Nothing is shared under this token");
}

/** Returns whether a share covers a run: it covers one run, mostly a root, and all of its descendants. */
export function isShared({ run, ref }: PlacedRun, share: RunShareRow): boolean {
  if (run.trace_id !== share.trace_id || ref.projectId !== share.project_id) return false;
  return (
    share.run_id === share.trace_id ||
    share.run_id === run.id ||
    ancestorIds(run.dotted_order).includes(share.run_id)
  );
}

/** Restricts a selection to the shared run and its descendants. */
export async function sharedSelection(
  env: Env,
  { workspace_id, run_id, project_id, trace_id }: RunShareRow,
  selection: RunSelection,
): Promise<RunSelection> {
  const { run } = await requireRun(env, {
    workspaceId: workspace_id,
    runId: run_id,
    projectId: project_id,
  });
  return { ...selection, traceId: trace_id, within: run.dotted_order };
}

/** Yields the runs of a `sharedSelection` in the order of their start; with `ids`, only those. */
export async function* readSharedRuns(
  env: Env,
  share: RunShareRow,
  { selection, ids, payloads }: SharedRunsQuery,
): AsyncGenerator<PlacedRun> {
  let after: RunPosition | null = null;
  do {
    const page = await findRuns(env, {
      workspaceId: share.workspace_id,
      projectIds: [share.project_id],
      selection,
      order: "asc",
      after,
      limit: PAGE,
      payloads,
    });
    for (const found of page.runs) {
      if (ids === null || ids.includes(found.run.id)) yield found;
    }
    after = page.next;
  } while (after !== null);
}

type SharedRunsQuery = {
  selection: RunSelection;
  ids: readonly string[] | null;
  payloads: readonly PayloadField[];
};

/** Shares a run and its descendants, under the requested token or a new one. */
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

/** Shares the whole trace of a run. A trace that is already shared keeps its token. */
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
