import { parseSettings } from "../env.ts";
import type { GraphHostApi, HostResult } from "../graph-runtime/protocol.ts";
import type { AgentCall } from "./agent-call.ts";
import type { Scope } from "../lib/scope.ts";
import { loadRevision } from "../revision-host/load-revision.ts";
import { ApiError } from "../lib/api-error.ts";
import { withTimeout } from "../lib/with-timeout.ts";

/**
 * The graphs of a revision, in an isolate of their own; without a revision those that the Worker was built with,
 * an entrypoint of this very Worker. Both are reached by RPC, and every call but a run ends in time.
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

/** The graphs of the revision that a request is for. */
export function requestedGraphs(call: AgentCall): GraphHostApi {
  const { revisionId = null } = call.revision ?? {};
  return graphHost(call.env, call.ctx, { scope: call.revision ?? call.scope, revisionId });
}

/**
 * A graph host whose calls end within `limitMs`, whatever its code does: each one is answered to somebody
 * who waits. Late ones are refused with "graph_late", or with an `ApiError` where the answer has no room
 * for a refusal. A run is not limited here, because it has its own time and can be cancelled.
 */
export function boundedHost(host: GraphHostApi, limitMs: number): GraphHostApi {
  const message = (what: string): string =>
    `The project's code did not ${what} within ${limitMs / 1000} seconds`;

  const demanded = <T>(what: string, call: Promise<T>): Promise<T> =>
    withTimeout(limitMs, call, () => {
      throw new ApiError("timed_out", message(what));
    });

  const asked = <T>(what: string, call: Promise<HostResult<T>>): Promise<HostResult<T>> =>
    withTimeout(limitMs, call, () => ({ ok: false, code: "graph_late", message: message(what) }));

  return {
    describe: () => demanded("describe itself", host.describe()),
    check: () => demanded("check its graphs", host.check()),
    authenticate: (request) => demanded("authenticate the request", host.authenticate(request)),
    authorize: (request) => demanded("authorize the request", host.authorize(request)),
    webhookHeaders: () => demanded("tell the headers of webhooks", host.webhookHeaders()),
    embed: (request) => asked("embed what the store was given", host.embed(request)),
    run: (spec, port) => host.run(spec, port),
    getState: (request, port) => asked("read the state", host.getState(request, port)),
    getHistory: (request, port) => asked("read the history", host.getHistory(request, port)),
    updateState: (request, port) => asked("update the state", host.updateState(request, port)),
    drawGraph: (ref) => asked("draw the graph", host.drawGraph(ref)),
    schemas: (ref) => asked("tell the graph's schemas", host.schemas(ref)),
    subgraphs: (ref) => asked("tell the graph's subgraphs", host.subgraphs(ref)),
    allowsOrigin: (origin) => demanded("judge the origin", host.allowsOrigin(origin)),
    uiFile: (request) => demanded("give the file", host.uiFile(request)),
  };
}
