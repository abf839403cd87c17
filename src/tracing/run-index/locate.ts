import { dayOf } from "../../lib/utc-day.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import type { ShardRef } from "../shard/shard-ref.ts";
import { madeAt } from "./packed-ids.ts";
import type { PutResult } from "./run-index-object.ts";
import type { IndexedRun } from "./run-place.ts";

/**
 * Entries that this isolate has made, so that the updates of a run cost none. An entry stays for
 * longer than a run can, and is changed only by the run's appearance in another project.
 */
const recentPlaces = new Set<string>();
const MAX_RECENT = 50_000;

type IndexEnv = Pick<Env, "RUN_INDEX" | "JURISDICTION">;

export type LocatedRun = { runId: string; ref: ShardRef };

/** The shard of a run, by its id alone. With `await`, one that is unknown yet is announced later. */
export async function locateRun(
  env: IndexEnv,
  workspaceId: string,
  runId: string,
  options: { await?: boolean } = {},
): Promise<LocatedRun | null> {
  const [found] = await locateRuns(env, workspaceId, [runId], options);
  return found ?? null;
}

/** Those of the runs that are known. */
export async function locateRuns(
  env: IndexEnv,
  workspaceId: string,
  runIds: readonly string[],
  options: { await?: boolean } = {},
): Promise<LocatedRun[]> {
  const found = await Promise.all(
    [...byPartition(runIds, (id) => id)].map(([partition, ids]) =>
      indexStub(env, workspaceId, partition).find(ids, options.await === true),
    ),
  );
  return found.flat().map((run) => locatedRun(workspaceId, run));
}

/** Enters runs, before their shards get them. */
export async function indexRuns(
  env: IndexEnv,
  workspaceId: string,
  runs: readonly IndexedRun[],
): Promise<{ elsewhere: LocatedRun[]; awaited: string[] }> {
  const news = runs.filter((run) => !recentPlaces.has(placeKey(workspaceId, run)));
  const results: PutResult[] = await Promise.all(
    [...byPartition(news, ({ id }) => id)].map(([partition, some]) =>
      indexStub(env, workspaceId, partition).put(some),
    ),
  );
  if (recentPlaces.size > MAX_RECENT) recentPlaces.clear();
  const elsewhere = new Set(results.flatMap((result) => result.elsewhere.map(({ id }) => id)));
  for (const run of news) {
    if (!elsewhere.has(run.id)) recentPlaces.add(placeKey(workspaceId, run));
  }
  return {
    elsewhere: results.flatMap(({ elsewhere }) =>
      elsewhere.map((run) => locatedRun(workspaceId, run)),
    ),
    awaited: results.flatMap(({ awaited }) => awaited),
  };
}

function placeKey(workspaceId: string, { id, projectId, day, bucket }: IndexedRun): string {
  return `${workspaceId}/${projectId}/${day}/${bucket}/${id}`;
}

function locatedRun(workspaceId: string, { id, projectId, day, bucket }: IndexedRun): LocatedRun {
  return { runId: id, ref: { workspaceId, projectId, day, bucket } };
}

function indexStub(env: IndexEnv, workspaceId: string, partition: string) {
  return regionalObject(env, "RUN_INDEX", `${workspaceId}/${partition}`);
}

function byPartition<T>(items: readonly T[], idOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const partition = partitionOf(idOf(item));
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, [item]);
    else group.push(item);
  }
  return groups;
}

/** One object for the ids that were made on one day, as far as an id tells its time; 16 for others. */
function partitionOf(runId: string): string {
  if (runId[14] !== "7") return runId.slice(-1);
  return `day-${dayOf(madeAt(runId) * 1000)}`;
}
