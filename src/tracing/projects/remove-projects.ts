import { markProjectsDeleted } from "../../db/projects-repo.ts";
import { findShards, SHARDS_AT_ONCE } from "../../db/run-shards-repo.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import { refOf, shardStub } from "../shard/shard-ref.ts";
import { forgetProject } from "./project-cache.ts";

/** Deletes those of the projects that there are, and returns how many; their traces follow. */
export async function removeProjects(
  env: Env,
  workspaceId: string,
  ids: readonly string[],
): Promise<number> {
  const deleted = await markProjectsDeleted(env.DB, workspaceId, ids, Date.now());
  for (const id of deleted) forgetProject(workspaceId, { id });
  // Other isolates may still remember the project; its shards must not take what they send.
  const shards = await findShards(env.DB, workspaceId, { projectIds: deleted, ofDeleted: true });
  await mapLimited(shards, SHARDS_AT_ONCE, async (row) => {
    await shardStub(env, refOf(row)).close();
  });
  return deleted.length;
}
