import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../../lib/scope.ts";
import type { ProjectDescription } from "../../revision-host/project-description.ts";
import { agentCall } from "../agent-call.ts";
import { describedProject } from "../described-project.ts";
import { insideScope } from "../inside-entrypoint.ts";
import { type RequestedDeployment, requestedDeployment } from "./deployment.ts";

/** The project that a request is for. */
export type RequestedProject = {
  /** Null for the project that the Worker was built with. */
  deployment: RequestedDeployment | null;
  description: ProjectDescription;
};

const projects = new WeakMap<AppContext, RequestedProject>();

/** Finds the project that a request is for, and its description. It does not authenticate the caller. */
export const requestedProject: MiddlewareHandler<AppEnv> = async (c, next) => {
  await findRequestedProject(c);
  await next();
};

/** Does the same for code that runs before the middleware. Throws a 404 if the deployment does not exist. */
export async function findRequestedProject(c: AppContext): Promise<RequestedProject> {
  const known = projects.get(c);
  if (known !== undefined) return known;
  const deployment = await requestedDeployment(c);
  c.set("revision", deployment?.revision ?? null);
  const description = await describedProject(agentCall(c));
  const inside = insideScope(c);
  const asked = deployment?.revision.deploymentId ?? DEFAULT_DEPLOYMENT_ID;
  if (inside !== null && inside.deploymentId !== asked) {
    throw new ApiError("not_found", "Deployment not found");
  }
  const project = { deployment, description };
  projects.set(c, project);
  return project;
}

export function projectOf(c: AppContext): RequestedProject {
  const project = projects.get(c);
  if (project === undefined) throw new Error("The request's project was not looked for");
  return project;
}

/** Returns null if the request is for no project, or ended before the project was known. */
export function projectIfKnown(c: AppContext): RequestedProject | null {
  return projects.get(c) ?? null;
}

/**
 * Returns the scope of the project's threads and assistants, for requests without a platform key that determines
 * it.
 */
export function requestedScope(c: AppContext): Scope {
  const { deployment } = projectOf(c);
  if (deployment === null) {
    return { workspaceId: c.var.settings.agentWorkspaceId, deploymentId: DEFAULT_DEPLOYMENT_ID };
  }
  const { workspaceId, deploymentId } = deployment.revision;
  return { workspaceId, deploymentId };
}

/** Returns the files of one of the project's user interfaces; an empty list if it has none with this name. */
export function uiFilesOf({ description: { ui } }: RequestedProject, name: string): string[] {
  return (Object.hasOwn(ui, name) && ui[name]) || [];
}
