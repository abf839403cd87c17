import type { MiddlewareHandler } from "hono";
import type { AuthenticationRequest, AuthInfo } from "../../graph-runtime/protocol.ts";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { holdsApiKey } from "../../identity/api-key.ts";
import { agentScope, workspaceOfKey } from "../../identity/authenticate.ts";
import type { Principal } from "../../lib/principal.ts";
import { DEFAULT_DEPLOYMENT_ID } from "../../lib/scope.ts";
import { agentCall } from "../agent-call.ts";
import { describedProject } from "../described-project.ts";
import { requestedGraphs } from "../graph-host.ts";
import { insideScope } from "../inside-entrypoint.ts";
import { RevisionCache } from "../revision-cache.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { requestedDeployment, requireKeyOf } from "./deployment.ts";
import { toAuthentication } from "./host-answers.ts";
import { PrincipalCache } from "./principal-cache.ts";
import { projectRefusal } from "./project-refusal.ts";

const STUDIO_IDENTITY = "langgraph-studio-user";

const STUDIO_PRINCIPAL: Principal = {
  user: {
    kind: "StudioUser",
    identity: STUDIO_IDENTITY,
    display_name: STUDIO_IDENTITY,
    is_authenticated: true,
    permissions: [],
  },
  permissions: [],
};

/**
 * Sets who asks, and about whose threads and assistants: by the project's own authentication where it
 * has one, else by the platform's keys.
 */
export const agentAuthentication: MiddlewareHandler<AppEnv> = async (c, next) => {
  const deployment = await requestedDeployment(c);
  c.set("revision", deployment?.revision ?? null);
  const { auth: info } = await describedProject(agentCall(c));
  const inside = insideScope(c);
  const asked = deployment?.revision.deploymentId ?? DEFAULT_DEPLOYMENT_ID;
  if (inside !== null && inside.deploymentId !== asked) {
    throw new ApiError("not_found", "Deployment not found");
  }
  if (deployment !== null) {
    const { workspaceId, deploymentId } = deployment.revision;
    c.set("scope", { workspaceId, deploymentId });
  } else if (info !== null) {
    const workspaceId = c.var.settings.agentWorkspaceId;
    c.set("scope", { workspaceId, deploymentId: DEFAULT_DEPLOYMENT_ID });
  }
  if (info !== null) {
    if (inside === null) await admitWorkspace(c, c.var.scope.workspaceId);
    c.set("principal", await principalOf(c, info));
    return next();
  }
  c.set("principal", null);
  if (inside !== null) {
    c.set("scope", inside);
    return next();
  }
  if (deployment === null) return agentScope(c, next);
  requireKeyOf(deployment);
  await next();
};

async function principalOf(c: AppContext, info: AuthInfo): Promise<Principal> {
  if (info.studio && c.req.header("x-auth-scheme") === "langsmith") {
    if ((await workspaceOfKey(c)) !== c.var.scope.workspaceId) {
      throw new ApiError("forbidden", "The API key is of another workspace than this deployment");
    }
    return STUDIO_PRINCIPAL;
  }
  const cache = cacheOf(c, info);
  const key = cache?.keyOf((name) => c.req.header(name)) ?? null;
  const known = key === null ? undefined : cache?.get(key);
  if (known !== undefined) return known;
  const result = toAuthentication(
    await requestedGraphs(agentCall(c)).authenticate(shown(c.req.raw)),
  );
  if (!result.ok) throw projectRefusal(result);
  if (key !== null) cache?.set(key, result.principal);
  return result.principal;
}

/**
 * The request without the platform's API keys. SDKs send them unasked, and the project's code must not see the keys of its
 * callers.
 */
function shown({ method, url, headers }: Request): AuthenticationRequest {
  const lines = Array.from(headers, ([name, value]) => {
    // A cookie that holds a key says nothing about the other cookies.
    const parts = name === "cookie" ? value.split(";") : [value];
    return {
      name,
      value: parts
        .filter((part) => !holdsApiKey(part))
        .join(";")
        .trim(),
    };
  });
  const asked = new URL(url);
  const held = [...asked.searchParams].filter(([, value]) => holdsApiKey(value));
  for (const [name] of held) asked.searchParams.delete(name);
  return { method, url: asked.href, headers: lines.filter(({ value }) => value !== "") };
}

const caches = new RevisionCache<PrincipalCache>();

function cacheOf(c: AppContext, { cache }: AuthInfo): PrincipalCache | null {
  if (cache === null) return null;
  const call = agentCall(c);
  return caches.get(call) ?? caches.set(call, new PrincipalCache(cache));
}
