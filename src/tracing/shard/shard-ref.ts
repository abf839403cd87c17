import { regionalObject } from "../../regions/regional-object.ts";

/** One RunShardObject: the runs of a project that started on one UTC day, or a part of them. */
export type ShardRef = {
  workspaceId: string;
  projectId: string;
  /** Whole UTC days since 1970-01-01. */
  day: number;
  /** Of the trace id's hash, below the project's number of buckets. */
  bucket: number;
};

export function shardObjectName({ workspaceId, projectId, day, bucket }: ShardRef): string {
  return `${workspaceId}/${projectId}/${day}/${bucket}`;
}

/** What reaching shards takes of the Worker's bindings. */
export type ShardEnv = Pick<Env, "RUN_SHARDS" | "JURISDICTION">;

export function shardStub(
  env: ShardEnv,
  ref: ShardRef,
): ReturnType<Env["RUN_SHARDS"]["getByName"]> {
  return regionalObject(env, "RUN_SHARDS", shardObjectName(ref));
}
