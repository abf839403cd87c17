import type { RunShardRow } from "../../db/run-shards-repo.ts";
import { shardObjectName } from "../../lib/object-names.ts";
import { regionalObject } from "../../regions/regional-object.ts";

/** Identifies one RunShardObject: the runs of a project that started on one UTC day, or a part of them. */
export type ShardRef = {
  workspaceId: string;
  projectId: string;
  /** Whole UTC days since 1970-01-01. */
  day: number;
  /** The number of the shard among those of that day: see buckets.ts. */
  bucket: number;
};

/** The place of a run within a workspace. */
export type RunPlace = Omit<ShardRef, "workspaceId">;

export type IndexedRun = RunPlace & { id: string };

/** Returns the shard of a row of D1's list. */
export function refOf(row: RunShardRow): ShardRef {
  return {
    workspaceId: row.workspace_id,
    projectId: row.project_id,
    day: row.day,
    bucket: row.bucket,
  };
}

/** The bindings that are needed to reach shards. */
export type ShardEnv = Pick<Env, "RUN_SHARDS" | "JURISDICTION">;

export function shardStub(
  env: ShardEnv,
  ref: ShardRef,
): ReturnType<Env["RUN_SHARDS"]["getByName"]> {
  return regionalObject(env, "RUN_SHARDS", shardObjectName(ref));
}
