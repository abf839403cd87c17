import type { AppContext } from "../http/app-types.ts";
import type { Principal } from "../lib/principal.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import type { Scope } from "../lib/scope.ts";

/** What the services of the agent server know of a request, which is nothing of HTTP. */
export type AgentCall = {
  env: Env;
  ctx: { exports?: Cloudflare.Exports };
  /** Whose threads and assistants the request is about. */
  scope: Scope;
  /** Whose graphs serve it; null for those that the Worker was built with. */
  revision: RevisionRef | null;
  /** Who asks, where the project has authentication of its own. */
  principal: Principal | null;
  /** What of the request a run finds in its `configurable`. */
  configurable?: Record<string, string> | undefined;
};

export function agentCall(c: AppContext): AgentCall {
  const { scope, revision, principal, configurable } = c.var;
  return { env: c.env, ctx: c.executionCtx, scope, revision, principal, configurable };
}
