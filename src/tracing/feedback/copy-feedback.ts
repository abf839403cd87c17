import {
  type FeedbackCopy,
  type FeedbackRow,
  noteCopies,
  postponeCopies,
  selectDueFeedback,
  selectUncopiedFeedback,
} from "../../db/feedback-repo.ts";
import { log } from "../../lib/log.ts";
import { shardObjectName } from "../../lib/object-names.ts";
import type { ShardRef } from "../shard/shard-ref.ts";
import { type FeedbackDeps, feedbackDeps, toShardFeedback } from "./feedback-shards.ts";
import { nextCopyAttempt } from "./copy-schedule.ts";

/** Maximum number of rows that one call copies. The sweep copies the rest. */
const MAX_ROWS_PER_CALL = 500;

const MAX_ROWS_PER_SWEEP = 200;

type RunFeedback = { row: FeedbackRow; runId: string };

type ShardGroup = { ref: ShardRef; feedback: RunFeedback[] };

/** Copies the feedback that was recorded before its runs arrived. Call it once they are stored. */
export async function copyDueFeedback(
  env: Env,
  workspaceId: string,
  runIds: readonly string[],
): Promise<void> {
  const deps = feedbackDeps(env);
  const rows = await selectUncopiedFeedback(deps.db, workspaceId, runIds, MAX_ROWS_PER_CALL);
  await copyFeedback(deps, rows);
}

/** Retries failed copies, for up to a day. `now` is in epoch milliseconds. */
export async function sweepFeedback(env: Env, now: number): Promise<void> {
  await sweepDueFeedback(feedbackDeps(env, () => now));
}

export async function sweepDueFeedback(deps: FeedbackDeps): Promise<void> {
  const now = deps.now();
  const rows = await selectDueFeedback(deps.db, now, MAX_ROWS_PER_SWEEP);
  const copied = await copyFeedback(deps, rows);
  const waiting = rows.filter((row) => !copied.has(rowKey(row)));
  await postponeCopies(
    deps.db,
    waiting.map(({ workspace_id, id, revision, copy_wanted_at }) => ({
      workspace_id,
      id,
      revision,
      copyDueAt: nextCopyAttempt(copy_wanted_at ?? now, now),
    })),
  );
}

/**
 * Copies rows to the shards of their runs. Returns the copied rows in their current state, by `rowKey`.
 * Rows whose run is unknown, or whose shard did not answer, are not returned and stay due.
 */
export async function copyFeedback(
  deps: FeedbackDeps,
  rows: readonly FeedbackRow[],
): Promise<Map<string, FeedbackRow>> {
  const groups = await groupByShard(deps, rows);
  const copies = await Promise.all(groups.map((group) => copyGroup(deps, group)));
  const made = copies.flat();
  const noted = await noteCopies(deps.db, made, deps.now());
  const current = new Map<string, FeedbackRow>();
  await Promise.all(
    made.map(async (copy, index) => {
      const row = noted[index];
      if (row !== undefined) current.set(rowKey(row), row);
      // The row was deleted while it was being copied.
      else await deps.shards.remove(refOf(copy), [copy.id]);
    }),
  );
  return current;
}

/** Returns the shard that has, or may have, a copy of the row; null if there is none. */
export async function shardOfFeedback(
  { shards }: FeedbackDeps,
  row: FeedbackRow,
): Promise<ShardRef | null> {
  if (row.run_id === null) return null;
  const known = knownShard(row);
  if (known !== null) return known;
  const [located] = await shards.locate(row.workspace_id, [row.run_id], { await: false });
  return located?.ref ?? null;
}

export function rowKey({ workspace_id, id }: Pick<FeedbackRow, "workspace_id" | "id">): string {
  return `${workspace_id}/${id}`;
}

async function groupByShard(
  deps: FeedbackDeps,
  rows: readonly FeedbackRow[],
): Promise<ShardGroup[]> {
  const ofRuns = rows.flatMap((row) => (row.run_id === null ? [] : [{ row, runId: row.run_id }]));
  const located = await locateUnknown(deps, ofRuns);
  const groups = new Map<string, ShardGroup>();
  for (const { row, runId } of ofRuns) {
    const ref = knownShard(row) ?? located.get(`${row.workspace_id}/${runId}`);
    if (ref === undefined) continue;
    const name = shardObjectName(ref);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { ref, feedback: [{ row, runId }] });
    else group.feedback.push({ row, runId });
  }
  return [...groups.values()];
}

async function locateUnknown(
  { shards }: FeedbackDeps,
  feedback: readonly RunFeedback[],
): Promise<Map<string, ShardRef>> {
  const runIds = new Map<string, Set<string>>();
  for (const { row, runId } of feedback) {
    if (knownShard(row) !== null) continue;
    const ids = runIds.get(row.workspace_id);
    if (ids === undefined) runIds.set(row.workspace_id, new Set([runId]));
    else ids.add(runId);
  }
  const refs = new Map<string, ShardRef>();
  await Promise.all(
    [...runIds].map(async ([workspaceId, ids]) => {
      try {
        const located = await shards.locate(workspaceId, [...ids], { await: true });
        for (const { runId, ref } of located) refs.set(`${workspaceId}/${runId}`, ref);
      } catch (error) {
        noteFailure(workspaceId, error);
      }
    }),
  );
  return refs;
}

async function copyGroup(
  deps: FeedbackDeps,
  { ref, feedback }: ShardGroup,
): Promise<FeedbackCopy[]> {
  try {
    const runs = await deps.shards.put(
      ref,
      feedback.map(({ row }) => toShardFeedback(row)),
    );
    const traceIds = new Map(runs.map(({ id, traceId }) => [id, traceId]));
    return feedback.flatMap(({ row, runId }) => {
      const traceId = traceIds.get(runId);
      return traceId === undefined ? [] : [toCopy(row, { runId, traceId }, ref)];
    });
  } catch (error) {
    noteFailure(ref.workspaceId, error);
    return [];
  }
}

/** Logs the failure only: the rows stay due, so the request that stored them need not fail. */
function noteFailure(workspaceId: string, error: unknown): void {
  log("warn", "warn", {
    event: "feedback_not_copied",
    workspace: workspaceId,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}

function knownShard(row: FeedbackRow): ShardRef | null {
  const { session_id: projectId, shard_day: day, shard_bucket: bucket } = row;
  if (projectId === null || day === null || bucket === null) return null;
  return { workspaceId: row.workspace_id, projectId, day, bucket };
}

function toCopy(
  row: FeedbackRow,
  run: { runId: string; traceId: string },
  { projectId, day, bucket }: ShardRef,
): FeedbackCopy {
  return {
    ...run,
    workspaceId: row.workspace_id,
    id: row.id,
    revision: row.revision,
    sessionId: projectId,
    day,
    bucket,
  };
}

function refOf({ workspaceId, sessionId: projectId, day, bucket }: FeedbackCopy): ShardRef {
  return { workspaceId, projectId, day, bucket };
}
