import { parseSettings } from "../env.ts";
import type { GraphHostApi } from "../graph-runtime/protocol.ts";
import type { AgentCall } from "./agent-call.ts";
import type { Scope } from "../lib/scope.ts";
import { loadRevision } from "../revision-host/load-revision.ts";
import { boundedHost } from "./bounded-host.ts";

/**
 * Returns the graphs of a revision, which run in their own isolate or, without a revision, the graphs that the
 * Worker was built with, which are an entrypoint of this Worker. Both are called by RPC, and every call except a
 * run has a time-out.
 */
export function graphHost(
  env: Env,
  ctx: { exports?: Cloudflare.Exports },
  { scope, revisionId }: { scope: Scope; revisionId: string | null },
): GraphHostApi {
  if (ctx.exports === undefined) throw new Error("The platform gives no ctx.exports");
  const host =
    revisionId === null
      ? ctx.exports.GraphHost({ props: scope })
      : loadRevision(env, ctx.exports, { ...scope, revisionId });
  return boundedHost(host, parseSettings(env).deployedCallMs);
}

export function requestedRevision(call: AgentCall): { revision_id: string | null } {
  return { revision_id: call.revision?.revisionId ?? null };
}

/** Returns the graphs of the revision that a request is for. */
export function requestedGraphs(call: AgentCall): GraphHostApi {
  const { revisionId = null } = call.revision ?? {};
  return graphHost(call.env, call.ctx, { scope: call.revision ?? call.scope, revisionId });
}
