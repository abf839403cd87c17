import { listShard, unlistShard } from "../../db/run-shards-repo.ts";
import { lastMicroOfDay, startOfDay } from "../../lib/utc-day.ts";
import type { RunWrite } from "../model/run-write.ts";
import type { ShardRef } from "./shard-ref.ts";
import type { ListedBounds } from "./shard-settings.ts";

/**
 * Makes sure that D1 lists the shard with bounds that hold these writes, and returns the bounds. Null when
 * it must not, because the project is gone.
 */
export async function listForWrites(
  db: D1Database,
  ref: ShardRef,
  writes: readonly RunWrite[],
  listed: ListedBounds | null,
): Promise<ListedBounds | null> {
  const starts = writes.flatMap(({ startTime }) => (startTime === undefined ? [] : [startTime]));
  const first = Math.min(startOfDay(ref.day), ...starts);
  const last = Math.max(lastMicroOfDay(ref.day), ...starts);
  if (listed !== null && listed.first <= first && listed.last >= last) return listed;
  const bounds = {
    first: Math.min(first, listed?.first ?? first),
    last: Math.max(last, listed?.last ?? last),
  };
  const isListed = await listShard(db, keyOf(ref), {
    first_start: bounds.first,
    last_start: bounds.last,
  });
  return isListed ? bounds : null;
}

/** The shard has nothing any more. */
export async function unlist(db: D1Database, ref: ShardRef): Promise<void> {
  await unlistShard(db, keyOf(ref));
}

function keyOf({ workspaceId, projectId, day, bucket }: ShardRef) {
  return { workspace_id: workspaceId, project_id: projectId, day, bucket };
}
