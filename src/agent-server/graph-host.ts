import type { GraphHostApi } from "../graph-runtime/protocol.ts";

/** The built-in project's graph host: an entrypoint of this very Worker, reached by RPC. */
export function graphHost(ctx: { exports?: Cloudflare.Exports }): GraphHostApi {
  if (ctx.exports === undefined) throw new Error("The platform gives no ctx.exports");
  return ctx.exports.GraphHost;
}
