import { replaceBucketRaises, selectProject } from "../../../db/projects-repo.ts";
import type { Micros } from "../../model/run-write.ts";
import type { ShardRef } from "../shard-ref.ts";
import { raisedPlan, readBucketPlan, writeRaises } from "./bucket-plan.ts";

/** Several shards of a project may ask at once. */
const MAX_ATTEMPTS = 4;

/**
 * Has later traces of the project spread over more shards, as one of its shards has `load` times as much to do as it
 * should. Returns whether anything was changed.
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
