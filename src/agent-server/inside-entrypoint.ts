import { WorkerEntrypoint } from "cloudflare:workers";
import { parseSettings } from "../env.ts";
import type { Hosts } from "../front-door/settings.ts";
import type { AppContext } from "../http/app-types.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../lib/scope.ts";

type AppFetch = (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>;

/**
 * The class of an entrypoint by which the code of a deployment reaches its own agent server. Only the
 * platform can make one, and its props say which deployment it is: such a request needs no API key, and a
 * project that authenticates its users is asked as it is for any other request.
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

/** The scope of a request that came by the entrypoint above; null for one that came from outside. */
export function insideScope(c: AppContext): Scope | null {
  const props: Partial<Scope> | undefined = c.executionCtx.props;
  const { workspaceId, deploymentId } = props ?? {};
  if (workspaceId === undefined || deploymentId === undefined) return null;
  return { workspaceId, deploymentId };
}

/** Where this installation serves the deployment, whatever address its code wrote. */
function addressOf({ deploymentId }: Scope, asked: URL, { agentsDomain }: Hosts): URL {
  const isDefault = deploymentId === DEFAULT_DEPLOYMENT_ID;
  const path = isDefault || agentsDomain !== null ? "" : `/deployments/${deploymentId}`;
  const label = isDefault ? "" : `${deploymentId}.`;
  const host = agentsDomain === null ? asked.host : `${label}${agentsDomain}`;
  return new URL(`${asked.protocol}//${host}${path}${asked.pathname}${asked.search}`);
}
