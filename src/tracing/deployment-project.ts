import { insertProject, selectProjectByName } from "../db/projects-repo.ts";
import { newProject } from "./projects/project-cache.ts";
import { removeProjects } from "./projects/project-service.ts";

/** The project that a deployment's traces go to; one that has its name already is it. */
export async function ensureDeploymentProject(
  env: Env,
  workspaceId: string,
  name: string,
): Promise<void> {
  await insertProject(env.DB, newProject(workspaceId, { name }, Date.now()));
}

/** With its traces. It is fine if there is none. */
export async function removeDeploymentProject(
  env: Env,
  workspaceId: string,
  name: string,
): Promise<void> {
  const project = await selectProjectByName(env.DB, workspaceId, name);
  if (project !== undefined) await removeProjects(env, workspaceId, [project.id]);
}
