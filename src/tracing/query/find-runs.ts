import { findShards, type RunShardRow } from "../../db/run-shards-repo.ts";
import type { PayloadField } from "../run-write.ts";
import type { RunOrder, RunPosition, RunRecord } from "../run-shard/run-record.ts";
import { locateRun, locateRuns } from "../run-index/locate.ts";
import { type ShardRef, shardObjectName, shardStub } from "../run-shard/shard-ref.ts";
import { type KnownTracesReader, knownTracesReader } from "./known-traces.ts";
import { type PlacedRun, refOf, RunSource } from "./run-source.ts";
import type { RunSelection } from "./selection.ts";

export type RunsQuery = {
  workspaceId: string;
  /** Undefined: all of the workspace. */
  projectIds?: readonly string[] | undefined;
  selection: RunSelection;
  order: RunOrder;
  after: RunPosition | null;
  limit: number;
  payloads: readonly PayloadField[];
};

export type RunsFound = { runs: PlacedRun[]; next: RunPosition | null };

/** A shard, and the bounds of what it may hold. */
type Candidate = { ref: ShardRef; first: number; last: number };

const MAX_OPENED_AT_ONCE = 8;

/**
 * The selected runs over all shards, in the order of their start and then their id. Shards are
 * opened only as far as the page reaches into their days.
 */
export async function findRuns(env: Env, query: RunsQuery): Promise<RunsFound> {
  const { order, limit } = query;
  const pending = await candidates(env, query);
  const known = knownTracesReader(env, query.selection, query.workspaceId);
  const open: RunSource[] = [];
  const runs: PlacedRun[] = [];
  let openAtOnce = 1;
  while (runs.length < limit) {
    const best = firstOf(open, order);
    const nextShard = pending[0];
    if (nextShard !== undefined && !isBefore(best?.head, nextShard, order)) {
      const batch = pending.splice(0, openAtOnce);
      // Empty days are passed in longer and longer strides.
      openAtOnce = Math.min(openAtOnce * 2, MAX_OPENED_AT_ONCE);
      open.push(...(await openSources(env, query, batch, known, limit - runs.length)));
      continue;
    }
    const taken = best?.take();
    if (best === undefined || taken === undefined) return { runs, next: null };
    runs.push(taken);
    await best.fill(limit - runs.length + 1);
  }
  const last = runs.at(-1)?.run;
  const isMore = pending.length > 0 || open.some(({ head }) => head !== undefined);
  const next = last === undefined || !isMore ? null : { startTime: last.start_time, id: last.id };
  return { runs, next };
}

/** The shards that may hold such runs, in the order in which their runs come. */
async function candidates(env: Env, query: RunsQuery): Promise<Candidate[]> {
  const { selection, order, after } = query;
  const descending = order === "desc";
  const from = Math.max(...defined([selection.from, descending ? undefined : after?.startTime]));
  const to = Math.min(...defined([selection.to, descending ? after?.startTime : undefined]));
  const rows = await findShards(env.DB, query.workspaceId, {
    projectIds: query.projectIds,
    ...(Number.isFinite(from) ? { from } : {}),
    ...(Number.isFinite(to) ? { to } : {}),
  });
  const found = await onlyNamed(env, query, rows);
  const all = found.map((row) => ({
    ref: refOf(row),
    first: row.first_start,
    last: row.last_start,
  }));
  return descending
    ? all.toSorted((left, right) => right.last - left.last)
    : all.toSorted((left, right) => left.first - right.first);
}

/** Runs and traces that are asked for by id are in few shards, which the id index knows. */
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

/** Null when the trace's root has not arrived yet: any shard may have runs of it. */
async function shardsOfTrace(
  env: Env,
  workspaceId: string,
  traceId: string,
): Promise<ShardRef[] | null> {
  const root = await locateRun(env, workspaceId, traceId);
  if (root === null) return null;
  const days = await shardStub(env.RUN_SHARDS, root.ref).otherDaysOf(traceId);
  const { workspaceId: owner, projectId, bucket } = root.ref;
  const others = days.map((day) => ({ workspaceId: owner, projectId, day, bucket }));
  return [root.ref, ...others];
}

async function openSources(
  env: Env,
  query: RunsQuery,
  batch: readonly Candidate[],
  known: KnownTracesReader,
  limit: number,
): Promise<RunSource[]> {
  return Promise.all(
    batch.map(async ({ ref }) => {
      const source = new RunSource(env.RUN_SHARDS, ref, query, await known(ref));
      await source.fill(limit + 1);
      return source;
    }),
  );
}

function firstOf(sources: readonly RunSource[], order: RunOrder): RunSource | undefined {
  let first: RunSource | undefined;
  for (const source of sources) {
    const { head } = source;
    if (head === undefined) continue;
    if (first?.head === undefined || comesBefore(head, first.head, order)) first = source;
  }
  return first;
}

function comesBefore(left: RunRecord, right: RunRecord, order: RunOrder): boolean {
  const sign = order === "asc" ? 1 : -1;
  const byTime = left.start_time - right.start_time;
  const difference = byTime === 0 ? (left.id < right.id ? -1 : 1) : byTime;
  return difference * sign < 0;
}

/** Whether a run comes before everything that the shard can hold. */
function isBefore(run: RunRecord | undefined, shard: Candidate, order: RunOrder): boolean {
  if (run === undefined) return false;
  return order === "desc" ? run.start_time > shard.last : run.start_time < shard.first;
}

function defined(values: (number | undefined)[]): number[] {
  return values.filter((value) => value !== undefined);
}
