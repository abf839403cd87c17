import type { ShardRef } from "./shard-ref.ts";
import { listShard, unlistShard } from "../../db/run-shards-repo.ts";
import { lastMicroOfDay, startOfDay } from "../../lib/utc-day.ts";
import type { Micros } from "../../lib/time.ts";
import type { RunWrite } from "../model/run-write.ts";
import { replaceBucketRaises, selectProject } from "../../db/projects-repo.ts";
import { raisedPlan, readBucketPlan, writeRaises } from "./buckets.ts";

/** The range of start times for which D1 lists the shard, in microseconds; both bounds are inclusive. */
type ListedBounds = { first: number; last: number };

/** What a shard stores about itself. */
export class ShardSettings {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get ref(): ShardRef {
    return JSON.parse(this.#get("ref") ?? "{}") as ShardRef;
  }

  set ref(ref: ShardRef) {
    this.#set("ref", JSON.stringify(ref));
  }

  /** Null if D1 has to be queried: nothing was listed yet, or the project was deleted. */
  get bounds(): ListedBounds | null {
    const text = this.#get("bounds");
    if (text === null) return null;
    const [first, last] = JSON.parse(text) as [number, number];
    return { first, last };
  }

  set bounds({ first, last }: ListedBounds) {
    this.#set("bounds", JSON.stringify([first, last]));
  }

  forgetBounds(): void {
    this.#sql.exec("DELETE FROM settings WHERE name = 'bounds'");
  }

  /** The last run of the first version that was moved; null if none was, or all were. */
  get movedTo(): number | null {
    const text = this.#get("moved_to");
    return text === null ? null : Number(text);
  }

  set movedTo(seq: number | null) {
    if (seq === null) this.#sql.exec("DELETE FROM settings WHERE name = 'moved_to'");
    else this.#set("moved_to", String(seq));
  }

  #get(name: string): string | null {
    const [row] = this.#sql
      .exec<{ value: string }>("SELECT value FROM settings WHERE name = ?", name)
      .toArray();
    return row?.value ?? null;
  }

  #set(name: string, value: string): void {
    this.#sql.exec("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, value);
  }
}

/**
 * Makes sure that D1 lists the shard with bounds that include these writes, and returns the bounds. Returns null
 * if it must not be listed because the project no longer exists.
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

/** Removes the shard from D1's list, because it is empty. */
export async function unlist(db: D1Database, ref: ShardRef): Promise<void> {
  await unlistShard(db, keyOf(ref));
}

function keyOf({ workspaceId, projectId, day, bucket }: ShardRef) {
  return { workspace_id: workspaceId, project_id: projectId, day, bucket };
}

/** Maximum attempts: several shards of a project may raise its buckets at once. */
const MAX_ATTEMPTS = 4;

/**
 * Spreads later traces of the project over more shards, because one of its shards has `load` times as much work as
 * it should. Returns whether anything was changed.
 */
export async function raiseBuckets(
  db: D1Database,
  { workspaceId, projectId }: Pick<ShardRef, "workspaceId" | "projectId">,
  load: number,
  now: Micros,
): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const project = await selectProject(db, workspaceId, projectId);
    const plan = project && raisedPlan(readBucketPlan(project), load, now);
    if (project === undefined || !plan) return false;
    const change = { from: project.bucket_raises, to: writeRaises(plan) };
    if (await replaceBucketRaises(db, workspaceId, projectId, change)) return true;
  }
  return false;
}
