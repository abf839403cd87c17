import type { WorkerEntrypoint } from "cloudflare:workers";
import type { Scope } from "./lib/scope.ts";
import type { GraphHostApi } from "./graph-runtime/protocol.ts";

/** What `#project` exports: the module that the build makes of a project's graphs. */
export const GraphHost: new (
  ctx: ExecutionContext<Scope>,
  env: Env,
) => WorkerEntrypoint<Env, Scope> & GraphHostApi;
