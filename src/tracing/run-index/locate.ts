import { partitionObjectName } from "../../lib/object-names.ts";
import { dayOf } from "../../lib/utc-day.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import type { IndexedRun, ShardRef } from "../shard/shard-ref.ts";
import { madeAt } from "./pack-table.ts";

/**
 * Entries that this isolate has made, so that updates of their runs need no call. An entry is kept for longer
 * than a run can be, and changes only if the run appears in another project.
 */
const recentPlaces = new Set<string>();
const MAX_RECENT = 50_000;

/** Maximum attempts to repeat entries that an index lost because it was restarted before it stored them. */
const MAX_ATTEMPTS = 3;

type IndexEnv = Pick<Env, "RUN_INDEX" | "JURISDICTION">;

export type LocatedRun = { runId: string; ref: ShardRef };

/** The index's response to entered runs. */
type Entered = {
  /** Runs that are already in another shard of their project, and stay there. */
  elsewhere: LocatedRun[];
  /** Runs that were looked up before they arrived. */
  awaited: string[];
  /** Resolves once the entries are on disk. Before that, no client may be told that the runs are stored. */
  kept: Promise<void>;
};

/** Returns the shard of a run, by its id alone. With `await`, a run that is still unknown is announced later. */
export async function locateRun(
  env: IndexEnv,
  workspaceId: string,
  runId: string,
  options: { await?: boolean } = {},
): Promise<LocatedRun | null> {
  const [found] = await locateRuns(env, workspaceId, [runId], options);
  return found ?? null;
}

/** Returns those of the runs that are known. */
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

/** Enters runs before their shards get them; the entries go to disk while the shards write. */
export async function indexRuns(
  env: IndexEnv,
  workspaceId: string,
  runs: readonly IndexedRun[],
): Promise<Entered> {
  const news = runs.filter((run) => !recentPlaces.has(placeKey(workspaceId, run)));
  const entered = await Promise.all(
    [...byPartition(news, ({ id }) => id)].map(([partition, some]) =>
      enterInto(indexStub(env, workspaceId, partition), some),
    ),
  );
  const elsewhere = entered.flatMap((part) => part.elsewhere);
  const staying = new Set(elsewhere.map(({ id }) => id));
  const kept = Promise.all(entered.map((part) => part.kept)).then(() => {
    if (recentPlaces.size > MAX_RECENT) recentPlaces.clear();
    for (const run of news) {
      if (!staying.has(run.id)) recentPlaces.add(placeKey(workspaceId, run));
    }
  });
  // The caller that awaits it gets the error; a request that fails earlier does not await it.
  kept.catch(() => undefined);
  return {
    elsewhere: elsewhere.map((run) => locatedRun(workspaceId, run)),
    awaited: entered.flatMap(({ awaited }) => awaited),
    kept,
  };
}

type IndexStub = ReturnType<Env["RUN_INDEX"]["getByName"]>;

type EnteredPart = { elsewhere: IndexedRun[]; awaited: string[]; kept: Promise<void> };

async function enterInto(stub: IndexStub, runs: IndexedRun[]): Promise<EnteredPart> {
  const { elsewhere, awaited, instance } = await stub.reserve(runs);
  const kept = instance === null ? Promise.resolve() : keep(stub, runs, instance, elsewhere.length);
  kept.catch(() => undefined);
  return { elsewhere, awaited, kept };
}

/** Stores entries. An index that was restarted in between has lost those not stored: they are entered again. */
async function keep(
  stub: IndexStub,
  runs: IndexedRun[],
  reservedBy: string,
  before: number,
): Promise<void> {
  let instance: string | null = reservedBy;
  for (let attempt = 0; attempt < MAX_ATTEMPTS && instance !== null; attempt += 1) {
    if (await stub.keep(instance)) return;
    const again = await stub.reserve(runs);
    if (again.elsewhere.length !== before) break;
    instance = again.instance;
  }
  if (instance !== null) throw new Error("the index of runs is restarted over and over");
}

function placeKey(workspaceId: string, { id, projectId, day, bucket }: IndexedRun): string {
  return `${workspaceId}/${projectId}/${day}/${bucket}/${id}`;
}

function locatedRun(workspaceId: string, { id, projectId, day, bucket }: IndexedRun): LocatedRun {
  return { runId: id, ref: { workspaceId, projectId, day, bucket } };
}

function indexStub(env: IndexEnv, workspaceId: string, partition: string): IndexStub {
  return regionalObject(env, "RUN_INDEX", partitionObjectName(workspaceId, partition));
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

/** Returns one partition per day for ids that contain their time, and one of 16 for other ids. */
function partitionOf(runId: string): string {
  if (runId[14] !== "7") return runId.slice(-1);
  return `day-${dayOf(madeAt(runId) * 1000)}`;
}
