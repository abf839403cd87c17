import { and, eq, gte, inArray, lte, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { jsonValues } from "./json-values.ts";
import { projects, runShards } from "./tracing-schema.ts";

export type RunShardRow = typeof runShards.$inferSelect;

type ShardKey = Pick<RunShardRow, "workspace_id" | "project_id" | "day" | "bucket">;

type Bounds = Pick<RunShardRow, "first_start" | "last_start">;

/** Lists a shard, or widens its bounds. Returns false, and lists nothing, when its project is gone. */
export async function listShard(db: D1Database, key: ShardKey, bounds: Bounds): Promise<boolean> {
  const project = drizzle(db)
    .select({
      workspace_id: projects.workspace_id,
      project_id: projects.id,
      day: sql<number>`${key.day}`.as("day"),
      bucket: sql<number>`${key.bucket}`.as("bucket"),
      first_start: sql<number>`${bounds.first_start}`.as("first_start"),
      last_start: sql<number>`${bounds.last_start}`.as("last_start"),
    })
    .from(projects)
    .where(
      and(
        eq(projects.id, key.project_id),
        eq(projects.workspace_id, key.workspace_id),
        sql`${projects.deleted_at} IS NULL`,
      ),
    );
  const rows = await drizzle(db)
    .insert(runShards)
    .select(project)
    .onConflictDoUpdate({
      target: [runShards.workspace_id, runShards.project_id, runShards.day, runShards.bucket],
      set: {
        first_start: sql`min(${runShards.first_start}, excluded.first_start)`,
        last_start: sql`max(${runShards.last_start}, excluded.last_start)`,
      },
    })
    .returning({ day: runShards.day });
  return rows.length > 0;
}

export async function unlistShard(db: D1Database, key: ShardKey): Promise<void> {
  await drizzle(db)
    .delete(runShards)
    .where(
      and(
        eq(runShards.workspace_id, key.workspace_id),
        eq(runShards.project_id, key.project_id),
        eq(runShards.day, key.day),
        eq(runShards.bucket, key.bucket),
      ),
    );
}

/** Maximum shards that one query reads at a time. */
export const SHARDS_AT_ONCE = 32;

/**
 * Returns shards of a workspace, or of some of its projects, that may hold runs started in a time range. Shards of
 * deleted projects are excluded, or with `ofDeleted` the only ones included.
 */
export async function findShards(
  db: D1Database,
  workspaceId: string,
  range: {
    projectIds?: readonly string[] | undefined;
    from?: number;
    to?: number;
    ofDeleted?: boolean;
  },
): Promise<RunShardRow[]> {
  return drizzle(db)
    .select()
    .from(runShards)
    .where(
      and(
        eq(runShards.workspace_id, workspaceId),
        range.projectIds === undefined
          ? undefined
          : inArray(runShards.project_id, jsonValues(range.projectIds)),
        sql`EXISTS (SELECT 1 FROM ${projects} WHERE ${projects.workspace_id} = ${runShards.workspace_id}
          AND ${projects.id} = ${runShards.project_id}
          AND ${projects.deleted_at} IS ${range.ofDeleted === true ? sql`NOT NULL` : sql`NULL`})`,
        range.from === undefined ? undefined : gte(runShards.last_start, range.from),
        range.to === undefined ? undefined : lte(runShards.first_start, range.to),
      ),
    );
}
