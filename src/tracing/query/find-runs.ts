import type { RunShardRow } from "../../db/run-shards-repo.ts";
import type { PayloadField } from "../model/run-write.ts";
import type { RunOrder, RunPosition } from "../model/run-page.ts";
import { locateRun, locateRuns } from "../run-index/locate.ts";
import { shardObjectName } from "../../lib/object-names.ts";
import { refOf, type ShardRef, shardStub } from "../shard/shard-ref.ts";
import { knownTracesReader } from "./known-traces.ts";
import { type PlacedRun, RunSource } from "./run-source.ts";
import type { RunSelection } from "../shard/selection.ts";
import { findCandidates, ShardMerge } from "./shard-merge.ts";
import { TooManyTurns, Turns } from "./turns.ts";
import { ApiError } from "../../lib/api-error.ts";

export type RunsQuery = {
  workspaceId: string;
  /** Undefined means every project of the workspace. */
  projectIds?: readonly string[] | undefined;
  selection: RunSelection;
  order: RunOrder;
  after: RunPosition | null;
  limit: number;
  payloads: readonly PayloadField[];
  /** The turns that the request has left; a whole budget if undefined. */
  turns?: Turns;
};

export type RunsFound = { runs: PlacedRun[]; next: RunPosition | null };

/**
 * Finds the selected runs in all shards, ordered by start and then by id. Shards are opened only as far as
 * the page reaches into their days. Throws a 422 if too many runs have to be examined before the first match.
 */
export async function findRuns(env: Env, query: RunsQuery): Promise<RunsFound> {
  const { workspaceId, projectIds, selection, order, after, limit } = query;
  const { from, to } = selection;
  const candidates = await findCandidates(
    env,
    { workspaceId, projectIds, from, to, order, after },
    (rows) => onlyNamed(env, query, rows),
  );
  const known = knownTracesReader(env, selection, workspaceId);
  const turns = query.turns ?? new Turns();
  const runs: PlacedRun[] = [];
  const merge = new ShardMerge(candidates, order, async (ref) => {
    const source = new RunSource(env, ref, query, turns, await known(ref));
    await source.fill(limit - runs.length + 1);
    return source;
  });
  const behindLast = (): RunPosition | null => {
    const last = runs.at(-1)?.run;
    return last === undefined ? null : { startTime: last.start_time, id: last.id };
  };
  try {
    while (runs.length < limit) {
      const best = await merge.next();
      const taken = best?.take();
      if (best === undefined || taken === undefined) return { runs, next: null };
      runs.push(taken);
      await best.fill(limit - runs.length + 1);
    }
  } catch (error) {
    // The runs found so far are a page that ends early: the next page continues from there.
    if (error instanceof TooManyTurns && runs.length > 0) return { runs, next: behindLast() };
    throw error;
  }
  return { runs, next: merge.isMore ? behindLast() : null };
}

/** Keeps the few shards that have the runs or the trace requested by id, which the id index knows. */
async function onlyNamed(
  env: Env,
  { workspaceId, selection }: RunsQuery,
  rows: RunShardRow[],
): Promise<RunShardRow[]> {
  const { ids, traceId } = selection;
  const refs =
    ids !== undefined
      ? (await locateRuns(env, workspaceId, ids)).map(({ ref }) => ref)
      : traceId === undefined
        ? null
        : await shardsOfTrace(env, workspaceId, traceId);
  if (refs === null) return rows;
  const names = new Set(refs.map(shardObjectName));
  return rows.filter((row) => names.has(shardObjectName(refOf(row))));
}

/** Returns null if the trace's root has not arrived yet: any shard may have runs of it. */
async function shardsOfTrace(
  env: Env,
  workspaceId: string,
  traceId: string,
): Promise<ShardRef[] | null> {
  const root = await locateRun(env, workspaceId, traceId);
  if (root === null) return null;
  const days = await shardStub(env, root.ref).otherDaysOf(traceId);
  const { workspaceId: owner, projectId, bucket } = root.ref;
  const others = days.map((day) => ({ workspaceId: owner, projectId, day, bucket }));
  return [root.ref, ...others];
}

export type RunToRead = {
  workspaceId: string;
  runId: string;
  /** Undefined means that the run may be in any project of the workspace. */
  projectId?: string | undefined;
  payloads?: readonly PayloadField[];
};

/** Returns one run. Throws a 404 if there is none with that id. */
export async function requireRun(
  env: Env,
  { workspaceId, runId, projectId, payloads = [] }: RunToRead,
): Promise<PlacedRun> {
  const { runs } = await findRuns(env, {
    workspaceId,
    projectIds: projectId === undefined ? undefined : [projectId],
    selection: { ids: [runId] },
    order: "desc",
    after: null,
    limit: 1,
    payloads,
  });
  const [found] = runs;
  if (found === undefined) throw runNotFound(runId);
  return found;
}

/** Also used for a run that the caller may not see: the error must not reveal that the run exists. */
export function runNotFound(runId: string): ApiError {
  return new ApiError("not_found", `Run ${runId} not found`);
}
