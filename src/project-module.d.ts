import type { WorkerEntrypoint } from "cloudflare:workers";
import type { GraphHostApi, HostProps } from "./graph-runtime/protocol.ts";

/** What `#project` exports: the module that the build makes of a project's graphs. */
export const GraphHost: new (
  ctx: ExecutionContext<HostProps>,
  env: Env,
) => WorkerEntrypoint<Env, HostProps> & GraphHostApi;
