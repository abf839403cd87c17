import type { Context } from "hono";
import type { Settings } from "../env.ts";
import type { Arrival } from "../front-door/arrival.ts";
import type { Principal } from "../lib/principal.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import type { Scope } from "../lib/scope.ts";

/** What the middleware of `app.ts` provides to every handler. */
export type AppEnv = {
  Bindings: Env;
  Variables: {
    requestId: string;
    settings: Settings;
    arrival: Arrival;
    /** Set by the surface's authentication; absent on the routes that need none. */
    scope: Scope;
    /** Whether a private host may answer; absent until `admitWorkspace` says so. */
    admitted: boolean;
    /** Names of members of the query and the body that have no effect; absent without any. */
    ignoredFields: Set<string> | undefined;
    /** Whom the agent server serves; null where the project has no authentication of its own. */
    principal: Principal | null;
    /** The request's headers that a run finds in its `configurable`; absent without any. */
    configurable: Record<string, string> | undefined;
    /** The request's headers that the log tells, as members of its line; absent without any. */
    loggedHeaders: Record<string, string> | undefined;
    /** Set where the answer is that of another request, which was made of this one and is logged itself. */
    isForwarded: true | undefined;
    /** Set where a project's own app answered. */
    isOfApp: true | undefined;
    /** Whose graphs the agent server runs; null for those that the Worker was built with. */
    revision: RevisionRef | null;
  };
};

export type AppContext = Context<AppEnv>;
