import { findShards, SHARDS_AT_ONCE } from "../../db/run-shards-repo.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import { refOf, shardStub } from "../shard/shard-ref.ts";
import type { Micros } from "../model/run-write.ts";
import { Turns } from "./turns.ts";

/** The most frequent values of each metadata key of a project's runs, at most `k` of each. */
export async function projectMetadata(
  env: Env,
  { workspaceId, projectId }: { workspaceId: string; projectId: string },
  options: { keys?: string[]; k: number; rootsOnly: boolean; startTime?: Micros },
): Promise<Record<string, string[]>> {
  const { keys, k, rootsOnly, startTime } = options;
  const rows = await findShards(env.DB, workspaceId, {
    projectIds: [projectId],
    ...(startTime === undefined ? {} : { from: startTime }),
  });
  const selection = { from: startTime, isRoot: rootsOnly ? true : undefined };
  const turns = new Turns();
  const byKey = new Map<string, Map<string, number>>();
  const add = ({ key, value, n }: { key: string; value: string; n: number }): void => {
    const values = byKey.get(key) ?? new Map<string, number>();
    values.set(value, (values.get(value) ?? 0) + n);
    byKey.set(key, values);
  };
  await mapLimited(rows, SHARDS_AT_ONCE, async (row) => {
    const stub = shardStub(env, refOf(row));
    await turns.readAll((after) => stub.metadataCounts(selection, keys ?? null, after), add);
  });
  return Object.fromEntries(
    [...byKey].map(([key, values]) => [
      key,
      [...values]
        .toSorted(([, left], [, right]) => right - left)
        .slice(0, k)
        .map(([value]) => value),
    ]),
  );
}
