import { insertProject, selectProjectByName } from "../db/projects-repo.ts";
import { newProject } from "./projects/project-cache.ts";
import { removeProjects } from "./projects/project-service.ts";

/** Creates the project for a deployment's traces, unless a project with that name exists. */
export async function ensureDeploymentProject(
  env: Env,
  workspaceId: string,
  name: string,
): Promise<void> {
  await insertProject(env.DB, newProject(workspaceId, { name }, Date.now()));
}

/** Deletes the project of a deployment with its traces. Does nothing if there is no such project. */
export async function removeDeploymentProject(
  env: Env,
  workspaceId: string,
  name: string,
): Promise<void> {
  const project = await selectProjectByName(env.DB, workspaceId, name);
  if (project !== undefined) await removeProjects(env, workspaceId, [project.id]);
}
