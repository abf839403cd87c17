import type { ProjectRow } from "../../../db/projects-repo.ts";
import type { AppContext } from "../../../http/app-types.ts";
import { ApiError } from "../../../lib/api-error.ts";
import { findProject } from "../../projects/project-cache.ts";

/** A project of the workspace; 404 when it has none of that id. */
export async function requireProject(
  c: AppContext,
  workspaceId: string,
  id: string,
): Promise<ProjectRow> {
  const project = await findProject(c.env.DB, workspaceId, id);
  if (project === null) throw new ApiError("not_found", `Project ${id} not found`);
  return project;
}
