import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { loggedRoute } from "../http/request-log.ts";
import { privateHostOf } from "../front-door/surface.ts";
import { needsPlan } from "./require-plan.ts";
import { type AddressRange, isInRanges, parseAddressRange } from "../lib/address-range.ts";
import { log } from "../lib/log.ts";
import { selectPrivateEndpoint } from "../db/workspaces-repo.ts";
import { isolateCache } from "../lib/isolate-cache.ts";
import { isAtLeast } from "../lib/plan-order.ts";
import { workspacePlan } from "./workspace-plan.ts";

/** The routed paths of health checks. */
const HEALTH_CHECKS = new Set(["/ok", "/api/v1/ok"]);

/**
 * Admits a request about a workspace, or throws a 403. A private host admits only an enrolled workspace that has
 * the plan, from its networks; a public host refuses a workspace that requires private hosts. This must be called
 * wherever a request turns out to be about a workspace, whatever reveals it: a key, a signed link, a token, the
 * state of an attempt.
 */
export async function admitWorkspace(c: AppContext, workspaceId: string): Promise<void> {
  const { arrival, settings } = c.var;
  const { enrolled, privateOnly, networks, isEnterprise } = await privateEndpointSettings(
    c.env,
    workspaceId,
  );
  if (!arrival.isPrivate) {
    if (!privateOnly) return;
    const host = privateHostOf(arrival.hostname, settings);
    throw refused(`This workspace is served on private hosts only${instead(host)}`);
  }
  if (!enrolled) {
    const text = "This workspace is not enrolled for private connectivity";
    throw refused(text + instead(arrival.publicHost));
  }
  if (!isEnterprise) throw refused(needsPlan("enterprise", "Private connectivity"));
  const isFromNetworks = arrival.address !== null && isInRanges(arrival.address, networks);
  if (networks.length > 0 && !isFromNetworks) {
    throw refused("This workspace is not served to the address that the request comes from");
  }
  c.set("admitted", true);
}

/**
 * Makes private hosts answer only health checks and requests that `admitWorkspace` has admitted, so that a route
 * which forgets to call it fails there. The paths in `general` are about no workspace: on private hosts they
 * require `authenticate`.
 */
export function privateConnectivity(
  general: readonly string[],
  authenticate: MiddlewareHandler<AppEnv>,
): MiddlewareHandler<AppEnv> {
  const isGeneral = new Set(general);
  return async (c, next) => {
    const { path } = c.req;
    if (!c.var.arrival.isPrivate || HEALTH_CHECKS.has(path)) return next();
    if (isGeneral.has(path)) return authenticate(c, next);
    await next();
    if (c.get("admitted") || c.res.status >= 400) return;
    await c.res.body?.cancel();
    log(c.var.settings.logLevel, "warn", {
      event: "private_host_refused",
      request_id: c.var.requestId,
      ...loggedRoute(c),
    });
    throw refused("This is a private host: it serves the workspaces that are enrolled for it");
  };
}

function refused(text: string): ApiError {
  return new ApiError("forbidden", text);
}

function instead(host: string | null): string {
  return host === null ? "" : `: use https://${host}`;
}

/** The hosts and the networks through which a workspace may be reached. */
type PrivateEndpointSettings = {
  /** Whether the private hosts serve the workspace. */
  enrolled: boolean;
  /** Whether the public hosts refuse the workspace. */
  privateOnly: boolean;
  /** The networks from which requests to the private hosts may come; an empty list allows any. */
  networks: readonly AddressRange[];
  isEnterprise: boolean;
};

const NOT_ENROLLED: PrivateEndpointSettings = {
  enrolled: false,
  privateOnly: false,
  networks: [],
  isEnterprise: false,
};

/**
 * Cached settings, keyed by workspace. Every request needs them. A change can go unnoticed for up to five seconds.
 */
const recentSettings = isolateCache<string, PrivateEndpointSettings>({
  maxEntries: 10_000,
  ttlMs: 5_000,
});

/** Returns the settings of a workspace, cached in this isolate for a few seconds. */
async function privateEndpointSettings(
  env: Env,
  workspaceId: string,
): Promise<PrivateEndpointSettings> {
  const known = recentSettings.get(workspaceId);
  if (known !== undefined) return known;
  const settings = await readSettings(env, workspaceId);
  recentSettings.set(workspaceId, settings);
  return settings;
}

async function readSettings(env: Env, workspaceId: string): Promise<PrivateEndpointSettings> {
  const row = await selectPrivateEndpoint(env.DB, workspaceId);
  if (row === undefined) return NOT_ENROLLED;
  return {
    enrolled: true,
    privateOnly: row.private_only,
    networks: (JSON.parse(row.networks) as string[]).map(parseAddressRange),
    isEnterprise: isAtLeast(await workspacePlan(env, workspaceId), "enterprise"),
  };
}
