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

/** Finds the project that a request is for, and what it says of itself; nobody is authenticated yet. */
export const requestedProject: MiddlewareHandler<AppEnv> = async (c, next) => {
  await findRequestedProject(c);
  await next();
};

/** The same for what comes before. 404 where there is no such deployment. */
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

/** Null for a request that is for no project, or ended before it was known. */
export function projectIfKnown(c: AppContext): RequestedProject | null {
  return projects.get(c) ?? null;
}

/** Whose threads and assistants the project has, for whom no key of the platform says it. */
export function requestedScope(c: AppContext): Scope {
  const { deployment } = projectOf(c);
  if (deployment === null) {
    return { workspaceId: c.var.settings.agentWorkspaceId, deploymentId: DEFAULT_DEPLOYMENT_ID };
  }
  const { workspaceId, deploymentId } = deployment.revision;
  return { workspaceId, deploymentId };
}

/** The files of one of the project's user interfaces; none where it has no such. */
export function uiFilesOf({ description: { ui } }: RequestedProject, name: string): string[] {
  return (Object.hasOwn(ui, name) && ui[name]) || [];
}
