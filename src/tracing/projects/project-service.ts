import {
  insertProject,
  type ProjectRow,
  selectProject,
  selectProjectByName,
  updateProject,
} from "../../db/projects-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { newProject } from "./new-project.ts";
import { forgetProject } from "./project-cache.ts";
import type { ProjectCreate, ProjectUpdate } from "../api/v1/projects/schemas.ts";
import { toChange } from "../api/v1/projects/project-json.ts";

/** With `upsert`, what is given changes the project that has the name already. */
export async function createProject(
  c: AppContext,
  body: ProjectCreate,
  options: { upsert: boolean },
): Promise<ProjectRow> {
  const { DB } = c.env;
  const { workspaceId } = c.var.scope;
  const change = toChange(body);
  const given = { ...change, name: body.name, id: body.id ?? undefined };
  const row = newProject(workspaceId, given, Date.now());
  const inserted = await insertProject(DB, row);
  if (inserted !== undefined) return inserted;
  const existing = await selectProjectByName(DB, workspaceId, body.name);
  if (existing === undefined) {
    throw new ApiError("conflict", `There is a project with the id ${row.id} already`);
  }
  if (!options.upsert) throw nameIsTaken(body.name);
  // SDKs send an empty object when they have nothing to say there.
  const { extra, ...others } = change;
  const updated = await updateProject(
    DB,
    workspaceId,
    existing.id,
    { ...others, extra: extra === "{}" ? undefined : extra },
    Date.now(),
  );
  forgetProject(workspaceId, existing);
  if (updated === undefined) throw nameIsTaken(body.name);
  return updated;
}

export async function requireProject(c: AppContext, id: string): Promise<ProjectRow> {
  const row = await selectProject(c.env.DB, c.var.scope.workspaceId, id);
  if (row === undefined) throw projectNotFound();
  return row;
}

export async function changeProject(
  c: AppContext,
  id: string,
  body: ProjectUpdate,
): Promise<ProjectRow> {
  const { workspaceId } = c.var.scope;
  const change = toChange(body);
  const row = await updateProject(c.env.DB, workspaceId, id, change, Date.now());
  forgetProject(workspaceId, { id });
  if (row !== undefined) return row;
  await requireProject(c, id);
  throw nameIsTaken(body.name ?? "");
}

export function projectNotFound(): ApiError {
  return new ApiError("not_found", "Project not found");
}

function nameIsTaken(name: string): ApiError {
  return new ApiError("conflict", `There is a project named ${JSON.stringify(name)} already`);
}
