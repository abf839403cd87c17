import type { MiddlewareHandler } from "hono";
import type { HeaderChoice } from "../../graph-runtime/http-info.ts";
import type { AppEnv } from "../../http/app-types.ts";
import { projectOf } from "../auth/requested-project.ts";
import { shownRequest } from "../auth/shown-request.ts";
import { chooseHeaders } from "./header-choice.ts";

/** Headers with credentials: a run gets one only if the project names it in full, and a log never has one. */
const CREDENTIALS = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key"]);

const MAX_LOGGED_CHARS = 200;

/** Sets which headers of the request are passed to its runs and written to the log, as the project configured it. */
export const chosenHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { http } = projectOf(c).description;
  const { configurable_headers: forRuns = null, logging_headers: forLog = null } = http ?? {};
  if (forRuns === null && forLog === null) return next();
  const { headers } = shownRequest(c.req.raw);
  if (forRuns !== null) {
    c.set("configurable", chooseHeaders(headers, withoutBroadCredentials(forRuns)));
  }
  if (forLog !== null) {
    const excludes = [...forLog.excludes, ...CREDENTIALS];
    const told = Object.entries(chooseHeaders(headers, { ...forLog, excludes })).map(
      ([name, value]) => [`headers.${name}`, value.slice(0, MAX_LOGGED_CHARS)],
    );
    c.set("loggedHeaders", Object.fromEntries(told));
  }
  await next();
};

function withoutBroadCredentials({ includes, excludes }: HeaderChoice): HeaderChoice {
  const named = new Set(includes.map((name) => name.toLowerCase()));
  return {
    includes,
    excludes: [...excludes, ...[...CREDENTIALS].filter((name) => !named.has(name))],
  };
}
