import type { AppContext } from "../../http/app-types.ts";
import { type PlanQuotas, planQuota } from "../../identity/plan-quotas.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import type { Plan } from "../../lib/plan-order.ts";
import { ensureDeploymentProject } from "../../tracing/deployment-project.ts";
import { type Integration, integrationOf } from "../integrations/github-integration.ts";
import { requestWork, type WorkMessage } from "./work-messages.ts";

/**
 * The dependencies of deployment services for a request of a workspace. Each function takes those that it uses.
 */
export type DeploymentDeps = {
  db: D1Database;
  workspaceId: string;
  encryptionKeys: string;
  signingSecret: string;
  /** The base URL of repositories. */
  githubUrl: string;
  /** The installation's account at the Git host; null when the workspace may not use it. */
  integration: Integration | null;
  plan: () => Promise<Plan>;
  quotaOf: (plan: Plan) => PlanQuotas[Plan];
  requestWork: (messages: readonly WorkMessage[]) => Promise<void>;
  /** Creates the tracing project for the traces of a deployment with this name. */
  ensureProject: (name: string) => Promise<void>;
};

/** The dependencies of services that only read. */
export type ReadDeps = Pick<DeploymentDeps, "db" | "workspaceId">;

export function deploymentDepsOf(c: AppContext): DeploymentDeps {
  return deploymentDepsOfWorkspace(c, c.var.scope.workspaceId);
}

/** Returns the dependencies for a request without a key, whose workspace was determined otherwise. */
export function deploymentDepsOfWorkspace(c: AppContext, workspaceId: string): DeploymentDeps {
  const { env } = c;
  const { settings } = c.var;
  return {
    db: env.DB,
    workspaceId,
    encryptionKeys: settings.encryptionKeys,
    signingSecret: settings.signingSecret,
    githubUrl: settings.githubUrl,
    integration: integrationOf(settings, workspaceId),
    plan: () => workspacePlan(env, workspaceId),
    quotaOf: (plan) => planQuota(settings, plan),
    requestWork: (messages) => requestWork(env, messages),
    ensureProject: (name) => ensureDeploymentProject(env, workspaceId, name),
  };
}

/** Returns the values that determine the URLs of deployments. */
export function urlsOf(c: AppContext): { agentsDomain: string | null; requestUrl: string } {
  return { agentsDomain: c.var.settings.hosts.agentsDomain, requestUrl: c.req.url };
}
