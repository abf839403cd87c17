import type { GraphHostApi } from "../graph-runtime/protocol.ts";
import type { AppContext } from "../http/app-types.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { loadRevision } from "../revision-host/load-revision.ts";

/**
 * The graphs of a revision, in an isolate of their own; for null those that the Worker was built with,
 * an entrypoint of this very Worker. Reached by RPC either way.
 */
export function graphHost(
  env: Env,
  ctx: { exports?: Cloudflare.Exports },
  revision: RevisionRef | null,
): GraphHostApi {
  if (ctx.exports === undefined) throw new Error("The platform gives no ctx.exports");
  return revision === null ? ctx.exports.GraphHost : loadRevision(env, ctx.exports, revision);
}

export function requestedRevision(c: AppContext): { revision_id: string | null } {
  return { revision_id: c.var.revision?.revisionId ?? null };
}

/** The graphs that a request is about. */
export function requestedGraphs(c: AppContext): GraphHostApi {
  return graphHost(c.env, c.executionCtx, c.var.revision);
}
