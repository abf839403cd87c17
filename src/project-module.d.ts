/** The built project: resolved by the bundler to the module that `cli/` generates. */
declare module "#project" {
  import { WorkerEntrypoint } from "cloudflare:workers";
  import type { GraphHostApi } from "./graph-runtime/protocol.ts";

  export const GraphHost: new (
    ctx: ExecutionContext,
    env: Env,
  ) => WorkerEntrypoint<Env> & GraphHostApi;
}
