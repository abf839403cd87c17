import type { MiddlewareHandler } from "hono";
import { touchKey } from "../db/workspaces-repo.ts";
import type { AppContext, AppEnv } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import type { KeyIdentity } from "../lib/principal.ts";
import { DEFAULT_DEPLOYMENT_ID } from "../lib/scope.ts";
import { admitWorkspace } from "./private-connectivity.ts";
import type { Caller } from "../front-door/caller.ts";
import { openServerRefusal, otherRegionText } from "./refused-callers.ts";

/** How precise `last_used_at` is: not every request is worth a write. */
const LAST_USED_PRECISION_MS = 60_000;

/** Which of a caller's two ways to look a key up is meant. */
export type KeyAsOf = keyof Pick<Caller, "current" | "recent">;

/** Sets whose threads and assistants a request to the agent server is about. */
export async function setAgentScope(c: AppContext, asOf: KeyAsOf): Promise<void> {
  const { agentAuth, agentWorkspaceId } = c.var.settings;
  // Open means open: a key of some other service, which SDKs send unasked, changes nothing.
  const isOpen = agentAuth === "none";
  const workspaceId = isOpen ? agentWorkspaceId : await workspaceOfRequest(c, asOf);
  if (isOpen) {
    requireLocal(c);
    await admitWorkspace(c, workspaceId);
  }
  c.set("scope", { workspaceId, deploymentId: DEFAULT_DEPLOYMENT_ID });
}

function requireLocal(c: AppContext): void {
  const { trustedHosts, hosts } = c.var.settings;
  const { hostname } = c.var.arrival;
  const asked = { hostname, origin: c.req.header("origin") };
  // Where the agent server has a host, nothing is served by any other.
  const refusal = openServerRefusal(asked, {
    trustedHosts,
    hasOwnHosts: hosts.agentsDomain !== null,
  });
  if (refusal !== null) throw new ApiError("forbidden", refusal);
}

/**
 * The workspace whose API key the request has as `X-Api-Key`. 401 without a valid one; a token in
 * `Authorization` is somebody else's here.
 */
export async function workspaceOfKey(c: AppContext): Promise<string> {
  return (await identify(c, c.var.arrival.caller.headerKey, "current")).workspace_id;
}

/** The workspace of the request's API key, in either header. 401 without a valid one. */
export async function workspaceOfRequest(c: AppContext, asOf: KeyAsOf): Promise<string> {
  return (await requireKey(c, asOf)).workspace_id;
}

/**
 * Sets the workspace of a request that needs a key whatever the agent server's setting is. A revoked
 * key is refused within seconds, not at once: tracers send many small requests.
 */
export const workspaceScope: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { workspace_id } = await requireKey(c, "recent");
  c.set("scope", { workspaceId: workspace_id, deploymentId: DEFAULT_DEPLOYMENT_ID });
  await next();
};

/**
 * The API key of the request (`X-Api-Key`, or `Authorization: Bearer`). 401 without a valid one,
 * 403 when `X-Tenant-Id` names another workspace than the key's.
 */
export async function requireKey(c: AppContext, asOf: KeyAsOf): Promise<KeyIdentity> {
  return identify(c, c.var.arrival.caller.key, asOf);
}

async function identify(
  c: AppContext,
  key: string | undefined,
  asOf: KeyAsOf,
): Promise<KeyIdentity> {
  if (!key) throw new ApiError("unauthorized", "Missing API key: send it as X-Api-Key");
  const { caller, publicHost } = c.var.arrival;
  const otherRegion = otherRegionText(key, publicHost, c.var.settings);
  if (otherRegion !== null) throw new ApiError("unauthorized", otherRegion);
  const identity = await caller[asOf](key);
  if (identity === undefined) throw new ApiError("unauthorized", "Invalid API key");
  const tenant = c.req.header("x-tenant-id");
  if (tenant !== undefined && tenant.toLowerCase() !== identity.workspace_id) {
    throw new ApiError("forbidden", "X-Tenant-Id is not the workspace of this API key");
  }
  await admitWorkspace(c, identity.workspace_id);
  noteUse(c, identity);
  return identity;
}

function noteUse(c: AppContext, identity: KeyIdentity): void {
  const now = Date.now();
  const before = now - LAST_USED_PRECISION_MS;
  if (identity.last_used_at !== null && identity.last_used_at >= before) return;
  identity.last_used_at = now;
  c.executionCtx.waitUntil(touchKey(c.env.DB, identity.key_id, { now, before }));
}
