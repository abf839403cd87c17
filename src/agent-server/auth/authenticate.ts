import type { MiddlewareHandler } from "hono";
import type { AuthInfo } from "../../graph-runtime/protocol.ts";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { setAgentScope, workspaceOfKey } from "../../identity/authenticate.ts";
import type { Principal } from "../../lib/principal.ts";
import { agentCall } from "../agent-call.ts";
import { requestedGraphs } from "../graph-host.ts";
import { insideScope } from "../inside-entrypoint.ts";
import { RevisionCache } from "../described-project.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { keyAsOf, requireKeyOf } from "./deployment.ts";
import { projectRefusal, toAuthentication } from "./host-answers.ts";
import { PrincipalCache } from "./principal-cache.ts";
import { projectOf, requestedScope } from "./requested-project.ts";
import { shownRequest } from "./shown-request.ts";

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
 * Whether the caller uses a key of the workspace, and the project with its own authentication admits such callers.
 */
export function isStudio(principal: Principal): boolean {
  // Compared by identity, because a project's own user may have the same members.
  return principal === STUDIO_PRINCIPAL;
}

/**
 * Sets the principal and the scope of a request: by the project's own authentication if it has one, else by the
 * platform's keys. `requestedProject` must run before it.
 */
export const agentAuthentication: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { deployment, description } = projectOf(c);
  const { auth: info } = description;
  const inside = insideScope(c);
  if (info !== null) {
    c.set("scope", requestedScope(c));
    if (inside === null) await admitWorkspace(c, c.var.scope.workspaceId);
    c.set("principal", await principalOf(c, info));
    return next();
  }
  c.set("principal", null);
  if (inside !== null || deployment !== null) c.set("scope", inside ?? requestedScope(c));
  if (inside !== null) return next();
  if (deployment === null) await setAgentScope(c, keyAsOf(c.req));
  else requireKeyOf(deployment);
  await next();
};

async function principalOf(c: AppContext, info: AuthInfo): Promise<Principal> {
  if (info.studio && c.req.header("x-auth-scheme") === "langsmith") {
    if ((await workspaceOfKey(c)) !== c.var.scope.workspaceId) {
      throw new ApiError(
        "forbidden",
        "The API key belongs to another workspace than this deployment",
      );
    }
    return STUDIO_PRINCIPAL;
  }
  const cache = cacheOf(c, info);
  const key = cache?.keyOf((name) => c.req.header(name)) ?? null;
  const known = key === null ? undefined : cache?.get(key);
  if (known !== undefined) return known;
  const result = toAuthentication(
    await requestedGraphs(agentCall(c)).authenticate(shownRequest(c.req.raw)),
  );
  if (!result.ok) throw projectRefusal(result);
  if (key !== null) cache?.set(key, result.principal);
  return result.principal;
}

const caches = new RevisionCache<PrincipalCache>();

function cacheOf(c: AppContext, { cache }: AuthInfo): PrincipalCache | null {
  if (cache === null) return null;
  const call = agentCall(c);
  return caches.get(call) ?? caches.set(call, new PrincipalCache(cache));
}
