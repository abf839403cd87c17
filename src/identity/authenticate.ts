import type { MiddlewareHandler } from "hono";
import { touchKey } from "../db/workspaces-repo.ts";
import type { AppContext, AppEnv } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import type { KeyIdentity } from "../lib/principal.ts";
import { DEFAULT_DEPLOYMENT_ID } from "../lib/scope.ts";
import { admitWorkspace } from "./private-connectivity.ts";
import type { Caller } from "../front-door/caller.ts";
import { openServerRefusal, otherRegionText } from "./refused-callers.ts";

/** The precision of `last_used_at`, so that not every request writes to the database. */
const LAST_USED_PRECISION_MS = 60_000;

/** The lookup of a key to use: the current state, or a cached one of a few seconds ago. */
export type KeyAsOf = keyof Pick<Caller, "current" | "recent">;

/** Sets the scope of a request to the agent server: whose threads and assistants it may touch. */
export async function setAgentScope(c: AppContext, asOf: KeyAsOf): Promise<void> {
  const { agentAuth, agentWorkspaceId } = c.var.settings;
  // An open server ignores keys: SDKs also send keys of other services without being asked to.
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
  // When the agent server has a configured host, it serves no other.
  const refusal = openServerRefusal(asked, {
    trustedHosts,
    hasOwnHosts: hosts.agentsDomain !== null,
  });
  if (refusal !== null) throw new ApiError("forbidden", refusal);
}

/**
 * Returns the workspace of the API key in `X-Api-Key`. Throws a 401 without a valid one. A token in
 * `Authorization` belongs to another service here.
 */
export async function workspaceOfKey(c: AppContext): Promise<string> {
  return (await identify(c, c.var.arrival.caller.headerKey, "current")).workspace_id;
}

/** Returns the workspace of the request's API key, from either header. Throws a 401 without a valid one. */
export async function workspaceOfRequest(c: AppContext, asOf: KeyAsOf): Promise<string> {
  return (await requireKey(c, asOf)).workspace_id;
}

/**
 * Sets the workspace of a request that needs a key regardless of the agent server's setting. A revoked key is
 * refused within seconds rather than at once, because tracers send many small requests.
 */
export const workspaceScope: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { workspace_id } = await requireKey(c, "recent");
  c.set("scope", { workspaceId: workspace_id, deploymentId: DEFAULT_DEPLOYMENT_ID });
  await next();
};

/**
 * Returns the identity of the request's API key (`X-Api-Key`, or `Authorization: Bearer`). Throws a 401 without a
 * valid one, and a 403 when `X-Tenant-Id` names another workspace than the key's.
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
