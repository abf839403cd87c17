import type { AppContext } from "../../http/app-types.ts";
import { type PlanQuotas, planQuota } from "../../identity/plan-quotas.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import type { Plan } from "../../lib/plan-order.ts";
import { ensureDeploymentProject } from "../../tracing/deployment-project.ts";
import { type Integration, integrationOf } from "../integrations/github-integration.ts";
import { requestWork, type WorkMessage } from "./work-messages.ts";

/** What the services of deployments need for a request of a workspace; each takes the few that it uses. */
export type DeploymentDeps = {
  db: D1Database;
  workspaceId: string;
  encryptionKeys: string;
  signingSecret: string;
  /** What the URLs of repositories begin with. */
  githubUrl: string;
  /** The installation's account at the Git host, where the workspace may use it. */
  integration: Integration | null;
  plan: () => Promise<Plan>;
  quotaOf: (plan: Plan) => PlanQuotas[Plan];
  requestWork: (messages: readonly WorkMessage[]) => Promise<void>;
  /** Makes the tracing project that the traces of a deployment of this name go to. */
  ensureProject: (name: string) => Promise<void>;
};

/** What a service needs that only reads. */
export type ReadDeps = Pick<DeploymentDeps, "db" | "workspaceId">;

export function deploymentDepsOf(c: AppContext): DeploymentDeps {
  return deploymentDepsOfWorkspace(c, c.var.scope.workspaceId);
}

/** The same for a request that has no key: something else told whose it is. */
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

/** What the URLs of deployments depend on. */
export function urlsOf(c: AppContext): { agentsDomain: string | null; requestUrl: string } {
  return { agentsDomain: c.var.settings.hosts.agentsDomain, requestUrl: c.req.url };
}
