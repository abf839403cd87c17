import type { MiddlewareHandler } from "hono";
import type { Settings } from "../env.ts";
import type { AppContext, AppEnv } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { log } from "../lib/log.ts";
import { rateLimitObjectName } from "../lib/object-names.ts";
import { BILLING_PATH } from "../lib/region.ts";
import { regionalObject } from "../regions/regional-object.ts";
import { type ApplicableLimit, applicableLimits } from "./applicable-limits.ts";
import { type DecisionDeps, decideAdmission } from "./decide.ts";
import { rateLimitHeaders, retrySeconds } from "./headers.ts";
import { LocalLimiters } from "./local-limiter.ts";

const UNREACHABLE_LOG_MS = 60_000;

const limiters = new LocalLimiters(() => Date.now());
let unreachableLoggedAt = 0;

/**
 * Applies the limits of `policy.ts` to requests to the platform API: the tracing API and the control plane. A
 * request above a limit gets a 429. Every response describes the limit that refused the request, else the last one
 * that counted it. Requests that cannot be counted are admitted.
 */
export const rateLimits: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { settings } = c.var;
  if (!settings.rateLimits || !isPlatformApi(c)) return next();
  let headers: HeaderLines = [];
  for (const counted of await applicableLimits(c)) {
    const objectName = rateLimitObjectName(settings.region, counted.name, counted.partition);
    const limiter = limiters.get(objectName);
    const deps = decisionDeps(c, settings, counted, objectName);
    const decision = await decideAdmission(limiter, counted.limit, deps);
    headers = rateLimitHeaders(counted, decision, Date.now());
    if (decision.kind === "refused") {
      setHeaders(c, headers);
      throw tooMany(counted, decision.retryMs);
    }
  }
  await next();
  // The headers are set after the handler, because headers set before would be copied into the response one by one.
  setHeaders(c, headers);
};

type HeaderLines = ReturnType<typeof rateLimitHeaders>;

function setHeaders(c: AppContext, headers: HeaderLines): void {
  for (const [name, value] of headers) c.res.headers.set(name, value);
}

function isPlatformApi({ var: { arrival } }: AppContext): boolean {
  // The other region calls for all of its workspaces from one address.
  if (arrival.path.startsWith(`${BILLING_PATH}/`)) return false;
  return arrival.surface === "tracing" || arrival.surface === "control-plane";
}

function decisionDeps(
  c: AppContext,
  { logLevel }: Settings,
  { name }: ApplicableLimit,
  objectName: string,
): DecisionDeps {
  return {
    ask: (request) => regionalObject(c.env, "RATE_LIMITERS", objectName).take(request),
    now: limiters.now,
    goOn: (work) => c.executionCtx.waitUntil(work),
    wait: (ms) => scheduler.wait(ms),
    onUnreachable: (error) => {
      const now = Date.now();
      if (Math.abs(now - unreachableLoggedAt) < UNREACHABLE_LOG_MS) return;
      unreachableLoggedAt = now;
      log(logLevel, "error", {
        event: "rate_limiter_unreachable",
        limit: name,
        error: String(error),
      });
    },
  };
}

function tooMany({ limit: { count, seconds } }: ApplicableLimit, retryMs: number): ApiError {
  const retry = retrySeconds(retryMs);
  const message =
    `Rate limit exceeded: ${count} ${count === 1 ? "request" : "requests"} in ${seconds} seconds. ` +
    `Try again in ${retry} ${retry === 1 ? "second" : "seconds"}.`;
  return new ApiError("rate_limited", message);
}
