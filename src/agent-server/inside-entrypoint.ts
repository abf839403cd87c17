import { WorkerEntrypoint } from "cloudflare:workers";
import { parseSettings } from "../env.ts";
import type { Hosts } from "../front-door/settings.ts";
import type { AppContext } from "../http/app-types.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../lib/scope.ts";

type AppFetch = (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>;

/**
 * Returns the class of the entrypoint through which a deployment's code calls its own agent server. Only the
 * platform can create one, and its props identify the deployment, so such a request needs no API key. A project
 * that authenticates its users does so for these requests, too.
 */
export function insideEntrypoint(fetchApp: AppFetch) {
  return class AgentServer extends WorkerEntrypoint<Env, Scope> {
    override fetch(request: Request): Response | Promise<Response> {
      const { hosts } = parseSettings(this.env);
      const url = addressOf(this.ctx.props, new URL(request.url), hosts);
      return fetchApp(new Request(url, request), this.env, this.ctx);
    }
  };
}

/** Returns the scope of a request that came through the entrypoint above; null for a request from outside. */
export function insideScope(c: AppContext): Scope | null {
  const props: Partial<Scope> | undefined = c.executionCtx.props;
  const { workspaceId, deploymentId } = props ?? {};
  if (workspaceId === undefined || deploymentId === undefined) return null;
  return { workspaceId, deploymentId };
}

/** Returns the address at which this installation serves the deployment, whatever host its code used. */
function addressOf({ deploymentId }: Scope, asked: URL, { agentsDomain }: Hosts): URL {
  const isDefault = deploymentId === DEFAULT_DEPLOYMENT_ID;
  const path = isDefault || agentsDomain !== null ? "" : `/deployments/${deploymentId}`;
  const label = isDefault ? "" : `${deploymentId}.`;
  const host = agentsDomain === null ? asked.host : `${label}${agentsDomain}`;
  return new URL(`${asked.protocol}//${host}${path}${asked.pathname}${asked.search}`);
}
