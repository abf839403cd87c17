import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { loggedRoute } from "../http/logged-route.ts";
import { privateHostOf, publicHostOf } from "../http/private-host.ts";
import { needsPlan } from "./require-plan.ts";
import { isInRanges } from "../lib/address-range.ts";
import { log } from "../lib/log.ts";
import { enrolmentOf } from "./enrolment.ts";

/** As they are routed. */
const HEALTH_CHECKS = new Set(["/ok", "/api/v1/ok"]);

/**
 * Lets a request about a workspace in, or throws a 403: on a private host only one that is enrolled and
 * has the plan, from its networks; on a public host none that asked for private hosts only. To be
 * called wherever a request turns out to be about a workspace, whatever told: a key, a signed link, a
 * token, the state of an attempt.
 */
export async function admitWorkspace(c: AppContext, workspaceId: string): Promise<void> {
  const { hostname } = new URL(c.req.url);
  const { settings } = c.var;
  const { enrolled, privateOnly, networks, isEnterprise } = await enrolmentOf(c.env, workspaceId);
  const publicHost = publicHostOf(hostname, settings);
  if (publicHost === null) {
    if (!privateOnly) return;
    const host = privateHostOf(hostname, settings);
    throw refused(`This workspace is served on private hosts only${instead(host)}`);
  }
  if (!enrolled) {
    const text = "This workspace is not enrolled for private connectivity";
    throw refused(text + instead(publicHost));
  }
  if (!isEnterprise) throw refused(needsPlan("enterprise", "Private connectivity"));
  const address = c.req.header("cf-connecting-ip") ?? "";
  if (networks.length > 0 && !isInRanges(address, networks)) {
    throw refused("This workspace is not served to the address that the request comes from");
  }
  c.set("admitted", true);
}

/**
 * On private hosts nothing is answered but health checks and what `admitWorkspace` has let in, so that
 * a route that forgets to ask fails there. The paths in `general` are about no workspace: on private
 * hosts they need `authenticate`.
 */
export function privateConnectivity(
  general: readonly string[],
  authenticate: MiddlewareHandler<AppEnv>,
): MiddlewareHandler<AppEnv> {
  const isGeneral = new Set(general);
  return async (c, next) => {
    const { path } = c.req;
    const isPublic = publicHostOf(new URL(c.req.url).hostname, c.var.settings) === null;
    if (isPublic || HEALTH_CHECKS.has(path)) return next();
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
