import { insertProject } from "../db/projects-repo.ts";
import { newProject } from "./projects/new-project.ts";

/** The project that a deployment's traces go to; one that has its name already is it. */
export async function ensureDeploymentProject(
  env: Pick<Env, "DB">,
  workspaceId: string,
  name: string,
): Promise<void> {
  await insertProject(env.DB, newProject(workspaceId, { name }, Date.now()));
}
