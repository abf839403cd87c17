import type { AppContext } from "../http/app-types.ts";
import type { Principal } from "../lib/principal.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import type { Scope } from "../lib/scope.ts";

/** What the services of the agent server need to know about a request, independent of HTTP. */
export type AgentCall = {
  env: Env;
  ctx: { exports?: Cloudflare.Exports };
  /** The scope of the threads and assistants that the request uses. */
  scope: Scope;
  /** The revision whose graphs serve the request; null for the graphs that the Worker was built with. */
  revision: RevisionRef | null;
  /** The authenticated user, if the project has its own authentication. */
  principal: Principal | null;
  /** Values from the request that its runs find in `configurable`. */
  configurable?: Record<string, string> | undefined;
};

export function agentCall(c: AppContext): AgentCall {
  const { scope, revision, principal, configurable } = c.var;
  return { env: c.env, ctx: c.executionCtx, scope, revision, principal, configurable };
}
