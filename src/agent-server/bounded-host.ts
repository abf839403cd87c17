import type { GraphHostApi, HostResult } from "../graph-runtime/protocol.ts";
import { ApiError } from "../lib/api-error.ts";
import { withTimeout } from "../lib/with-timeout.ts";

/**
 * Returns a graph host whose calls end within `limitMs`, whatever its code does, because each call has a waiting
 * caller. A call that takes longer returns "graph_late", or throws an `ApiError` if its result type has no room
 * for a refusal. Runs are not limited here, because they have their own time-out and can be cancelled.
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
    webhookHeaders: () => demanded("return the webhook headers", host.webhookHeaders()),
    embed: (request) => asked("compute the store's embeddings", host.embed(request)),
    run: (spec, port) => host.run(spec, port),
    getState: (request, port) => asked("read the state", host.getState(request, port)),
    getHistory: (request, port) => asked("read the history", host.getHistory(request, port)),
    updateState: (request, port) => asked("update the state", host.updateState(request, port)),
    drawGraph: (ref) => asked("draw the graph", host.drawGraph(ref)),
    schemas: (ref) => asked("return the graph's schemas", host.schemas(ref)),
    subgraphs: (ref) => asked("return the graph's subgraphs", host.subgraphs(ref)),
    allowsOrigin: (origin) =>
      demanded("decide whether to allow the origin", host.allowsOrigin(origin)),
    uiFile: (request) => demanded("return the file", host.uiFile(request)),
  };
}
