import { type ShardEnv, type ShardRef, shardStub } from "../shard/shard-ref.ts";
import type { RunSelection } from "../shard/selection.ts";
import type { KnownTraces } from "../filter/filter.ts";

/** Returns what a shard must know about traces that have runs on other days too; undefined if nothing. */
export type KnownTracesReader = (ref: ShardRef) => Promise<KnownTraces | undefined>;

/**
 * A trace that crosses midnight has its runs in several shards, so none of them alone can decide whether its
 * root, or any of its runs, matches a filter. For the few traces of that kind, the other shards are queried.
 */
export function knownTracesReader(
  env: ShardEnv,
  { traceFilter, treeFilter }: RunSelection,
  workspaceId: string,
): KnownTracesReader {
  if (traceFilter === undefined && treeFilter === undefined) {
    return () => Promise.resolve(undefined);
  }
  return async (ref) => {
    if (ref.workspaceId !== workspaceId) throw new Error("a shard of another workspace");
    const split = await splitTracesOf(env, ref);
    if (split.size === 0) return undefined;
    const [trace, tree] = await Promise.all([
      traceFilter === undefined ? [] : askOthers(env, ref, split, "trace", traceFilter),
      treeFilter === undefined ? [] : askOthers(env, ref, split, "tree", treeFilter),
    ]);
    return { trace, tree };
  };
}

/** Returns the shard's traces of which other days have a part, keyed by those days. */
async function splitTracesOf(env: ShardEnv, ref: ShardRef): Promise<Map<number, Set<string>>> {
  const byDay = new Map<number, Set<string>>();
  const add = (day: number, traceId: string): void => {
    if (day === ref.day) return;
    const traces = byDay.get(day);
    if (traces === undefined) byDay.set(day, new Set([traceId]));
    else traces.add(traceId);
  };
  const split = await shardStub(env, ref).splitTraces();
  const homes = new Map<number, Set<string>>();
  for (const { traceId, days } of split) {
    for (const day of days) {
      add(day, traceId);
      homes.set(day, (homes.get(day) ?? new Set()).add(traceId));
    }
  }
  // Only the shard of a trace's root knows all of its days.
  await Promise.all(
    [...homes].map(async ([day, traces]) => {
      const home = { ...ref, day };
      for (const { traceId, days } of await shardStub(env, home).splitTraces()) {
        if (!traces.has(traceId)) continue;
        for (const other of days) add(other, traceId);
      }
    }),
  );
  return byDay;
}

async function askOthers(
  env: ShardEnv,
  ref: ShardRef,
  split: ReadonlyMap<number, ReadonlySet<string>>,
  scope: "trace" | "tree",
  filter: string,
): Promise<string[]> {
  const answers = await Promise.all(
    [...split].map(([day, traces]) =>
      shardStub(env, { ...ref, day }).matchingTraces(scope, filter, [...traces]),
    ),
  );
  return [...new Set(answers.flat())];
}
