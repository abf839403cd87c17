import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { CorsInfo } from "../../graph-runtime/http-info.ts";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { isolateCache } from "../../lib/isolate-cache.ts";
import { agentCall } from "../agent-call.ts";
import { findRequestedProject, projectIfKnown } from "../auth/requested-project.ts";
import { requestedGraphs } from "../graph-host.ts";
import { RevisionCache } from "../described-project.ts";

type Defaults = {
  origin: "*";
  allowMethods: string[];
  exposeHeaders: string[];
  maxAge: number;
};

const MAX_ORIGINS = 100;

/** Cached decisions about origins, for projects that allow origins by a pattern. */
const origins = new RevisionCache<ReturnType<typeof isolateCache<string, boolean>>>();

/**
 * Sets the CORS headers of responses: any origin is allowed, unless a project configures CORS for its part of the
 * agent server. A preflight carries no key, so the project is looked up first; for any other request it is known
 * by the time the response exists.
 */
export function agentCors(defaults: Defaults): MiddlewareHandler<AppEnv> {
  const usual = cors(defaults);
  return async (c, next) => {
    if (c.var.arrival.surface !== "agent-server") return usual(c, next);
    if (c.req.method === "OPTIONS") return projectCors(await preflightInfo(c))(c, next);
    await next();
    if (c.get("isForwarded") || c.res.status === 101) return;
    const info = projectIfKnown(c)?.description.http?.cors ?? null;
    await projectCors(info)(c, async () => {});
  };

  function projectCors(info: CorsInfo | null): MiddlewareHandler<AppEnv> {
    if (info === null) return usual;
    return cors({
      origin: info.has_origin_pattern ? matchingOrigin : (info.allow_origins ?? "*"),
      allowMethods: info.allow_methods ?? defaults.allowMethods,
      ...(info.allow_headers === null ? {} : { allowHeaders: info.allow_headers }),
      exposeHeaders: [...new Set([...info.expose_headers, ...defaults.exposeHeaders])],
      credentials: info.allow_credentials,
      maxAge: info.max_age ?? defaults.maxAge,
    });
  }
}

/** Returns null if the project cannot be found: the request after the preflight gets the error. */
async function preflightInfo(c: AppContext): Promise<CorsInfo | null> {
  try {
    return (await findRequestedProject(c)).description.http?.cors ?? null;
  } catch {
    return null;
  }
}

async function matchingOrigin(origin: string, c: AppContext): Promise<string | null> {
  if (origin === "") return null;
  const call = agentCall(c);
  const known = origins.get(call) ?? origins.set(call, isolateCache({ maxEntries: MAX_ORIGINS }));
  const before = known.get(origin);
  if (before !== undefined) return before ? origin : null;
  try {
    const answer: unknown = await requestedGraphs(call).allowsOrigin(origin);
    const isAllowed = answer === true;
    known.set(origin, isAllowed);
    return isAllowed ? origin : null;
  } catch {
    // If the deployed code does not answer, the origin is not allowed.
    return null;
  }
}
