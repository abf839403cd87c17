import type { Context } from "hono";
import type { Settings } from "../env.ts";
import type { Arrival } from "../front-door/arrival.ts";
import type { Principal } from "../lib/principal.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import type { Scope } from "../lib/scope.ts";

/** The bindings and variables that the middleware of `app.ts` provides to every handler. */
export type AppEnv = {
  Bindings: Env;
  Variables: {
    requestId: string;
    settings: Settings;
    arrival: Arrival;
    /** Set by the surface's authentication; absent on routes that need none. */
    scope: Scope;
    /** Whether a private host may answer the request. Absent until `admitWorkspace` sets it. */
    admitted: boolean;
    /** Names of members of the query and the body that have no effect; absent when there are none. */
    ignoredFields: Set<string> | undefined;
    /** The user whom the agent server serves; null when the project has no authentication of its own. */
    principal: Principal | null;
    /** Request headers that a run finds in its `configurable`; absent when there are none. */
    configurable: Record<string, string> | undefined;
    /** Request headers that are added to the request's log line; absent when there are none. */
    loggedHeaders: Record<string, string> | undefined;
    /** Set when the response is that of another request, which was derived from this one and is logged itself. */
    isForwarded: true | undefined;
    /** Set when a project's own app has answered. */
    isOfApp: true | undefined;
    /** The revision whose graphs the agent server runs; null for the graphs that the Worker was built with. */
    revision: RevisionRef | null;
  };
};

export type AppContext = Context<AppEnv>;
