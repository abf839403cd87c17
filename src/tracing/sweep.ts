import { findShards } from "../db/run-shards-repo.ts";
import { listDeletedProjects, purgeProject } from "../db/projects-repo.ts";
import { sweepFeedback } from "./feedback/copy-feedback.ts";
import { refOf, shardStub } from "./shard/shard-ref.ts";

const PROJECTS_PER_SWEEP = 20;
const SHARDS_PER_PROJECT = 100;

/** Finishes, once a minute, what a failure or a crash may have left undone. `now` is in epoch milliseconds. */
export async function sweepTracing(env: Env, now: number): Promise<void> {
  await Promise.all([sweepFeedback(env, now), deleteProjects(env)]);
}

/** Deletes the shards of deleted projects, and then the projects. */
async function deleteProjects(env: Env): Promise<void> {
  for (const project of await listDeletedProjects(env.DB, PROJECTS_PER_SWEEP)) {
    const shards = await findShards(env.DB, project.workspace_id, {
      projectIds: [project.id],
      ofDeleted: true,
    });
    for (const row of shards.slice(0, SHARDS_PER_PROJECT)) {
      const ref = refOf(row);
      await shardStub(env, ref).destroy(ref);
    }
    if (shards.length > SHARDS_PER_PROJECT) continue;
    await purgeProject(env.DB, project.workspace_id, project.id);
  }
}
