import type { RunShardRow } from "../../db/run-shards-repo.ts";
import { shardObjectName } from "../../lib/object-names.ts";
import { regionalObject } from "../../regions/regional-object.ts";

/** One RunShardObject: the runs of a project that started on one UTC day, or a part of them. */
export type ShardRef = {
  workspaceId: string;
  projectId: string;
  /** Whole UTC days since 1970-01-01. */
  day: number;
  /** Which of the shards of that day it is: see buckets.ts. */
  bucket: number;
};

/** Where a run of a workspace is. */
export type RunPlace = Omit<ShardRef, "workspaceId">;

export type IndexedRun = RunPlace & { id: string };

/** The shard that a row of D1's list is about. */
export function refOf(row: RunShardRow): ShardRef {
  return {
    workspaceId: row.workspace_id,
    projectId: row.project_id,
    day: row.day,
    bucket: row.bucket,
  };
}

/** What reaching shards takes of the Worker's bindings. */
export type ShardEnv = Pick<Env, "RUN_SHARDS" | "JURISDICTION">;

export function shardStub(
  env: ShardEnv,
  ref: ShardRef,
): ReturnType<Env["RUN_SHARDS"]["getByName"]> {
  return regionalObject(env, "RUN_SHARDS", shardObjectName(ref));
}
