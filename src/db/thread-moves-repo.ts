import type { Scope } from "../lib/scope.ts";
import type { ThreadIndexRow } from "./threads-repo.ts";

/** Maximum scopes that one statement returns, each of which costs two look-ups in the table's key. */
const MAX_SCOPES = 5000;

/** Returns the scopes that have threads in a database, in order, and at most MAX_SCOPES. */
export async function scopesWithThreads(db: D1Database): Promise<Scope[]> {
  // The query goes from scope to scope along the key, skipping the rows of each.
  const { results } = await db
    .prepare(
      `WITH RECURSIVE scopes (workspace_id, deployment_id) AS (
         SELECT * FROM (
           SELECT workspace_id, deployment_id FROM threads
           ORDER BY workspace_id, deployment_id LIMIT 1)
         UNION ALL
         SELECT following.workspace_id, following.deployment_id
         FROM scopes JOIN threads AS following ON following.rowid = coalesce(
           (SELECT rowid FROM threads
            WHERE workspace_id = scopes.workspace_id AND deployment_id > scopes.deployment_id
            ORDER BY deployment_id LIMIT 1),
           (SELECT rowid FROM threads WHERE workspace_id > scopes.workspace_id
            ORDER BY workspace_id, deployment_id LIMIT 1))
         LIMIT ${MAX_SCOPES})
       SELECT workspace_id AS workspaceId, deployment_id AS deploymentId FROM scopes`,
    )
    .all<Scope>();
  return results;
}

/** Returns the first threads of a scope by id: as many as `room` allows, but at least one if there is any. */
export async function firstThreads(
  db: D1Database,
  scope: Scope,
  room: { rows: number; chars: number },
): Promise<ThreadIndexRow[]> {
  const { results } = await db
    .prepare(
      `SELECT * FROM threads WHERE workspace_id = ?1 AND deployment_id = ?2 AND thread_id IN (
         SELECT thread_id FROM (
           SELECT thread_id, json_chars, sum(json_chars) OVER (ORDER BY thread_id) AS chars FROM (
             SELECT thread_id, json_chars FROM threads
             WHERE workspace_id = ?1 AND deployment_id = ?2 ORDER BY thread_id LIMIT ?3))
         WHERE chars <= ?4 OR chars = json_chars)`,
    )
    .bind(scope.workspaceId, scope.deploymentId, room.rows, room.chars)
    .all<ThreadIndexRow>();
  return results;
}
