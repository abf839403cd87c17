import {
  insertProject,
  markProjectsDeleted,
  type ProjectChange,
  type ProjectRow,
  selectProject,
  selectProjectByName,
  updateProject,
} from "../../db/projects-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import { forgetProject, newProject } from "./project-cache.ts";
import { findShards, SHARDS_AT_ONCE } from "../../db/run-shards-repo.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import { refOf, shardStub } from "../shard/shard-ref.ts";

export type NewProject = ProjectChange & { name: string; id?: string | undefined };

/** Creates a project. With `upsert`, the given values change the project that already has the name. */
export async function createProject(
  db: D1Database,
  workspaceId: string,
  given: NewProject,
  options: { upsert: boolean },
): Promise<ProjectRow> {
  const row = newProject(workspaceId, given, Date.now());
  const inserted = await insertProject(db, row);
  if (inserted !== undefined) return inserted;
  const existing = await selectProjectByName(db, workspaceId, given.name);
  if (existing === undefined) {
    throw new ApiError("conflict", `There is a project with the id ${row.id} already`);
  }
  if (!options.upsert) throw nameIsTaken(given.name);
  // SDKs send an empty object if they have no `extra`.
  const { id: _, extra, ...others } = given;
  const updated = await updateProject(
    db,
    workspaceId,
    existing.id,
    { ...others, extra: extra === "{}" ? undefined : extra },
    Date.now(),
  );
  forgetProject(workspaceId, existing);
  if (updated === undefined) throw nameIsTaken(given.name);
  return updated;
}

/** Returns the current row from D1, not one from an isolate's cache. Throws a 404 if there is none. */
export async function readProject(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<ProjectRow> {
  const row = await selectProject(db, workspaceId, id);
  if (row === undefined) throw projectNotFound();
  return row;
}

export async function changeProject(
  db: D1Database,
  workspaceId: string,
  id: string,
  change: ProjectChange,
): Promise<ProjectRow> {
  const row = await updateProject(db, workspaceId, id, change, Date.now());
  forgetProject(workspaceId, { id });
  if (row !== undefined) return row;
  await readProject(db, workspaceId, id);
  throw nameIsTaken(change.name ?? "");
}

export function projectNotFound(): ApiError {
  return new ApiError("not_found", "Project not found");
}

function nameIsTaken(name: string): ApiError {
  return new ApiError("conflict", `There is a project named ${JSON.stringify(name)} already`);
}

/** Deletes those of the projects that exist, and returns their number. Their traces are deleted later. */
export async function removeProjects(
  env: Env,
  workspaceId: string,
  ids: readonly string[],
): Promise<number> {
  const deleted = await markProjectsDeleted(env.DB, workspaceId, ids, Date.now());
  for (const id of deleted) forgetProject(workspaceId, { id });
  // Other isolates may still have the project in their cache; its shards must not accept what they send.
  const shards = await findShards(env.DB, workspaceId, { projectIds: deleted, ofDeleted: true });
  await mapLimited(shards, SHARDS_AT_ONCE, async (row) => {
    await shardStub(env, refOf(row)).close();
  });
  return deleted.length;
}
