import type { WorkerEntrypoint } from "cloudflare:workers";
import type { GraphHostApi, HostProps } from "./graph-runtime/protocol.ts";

/** The exports of `#project`, the module that the build creates from a project's graphs. */
export const GraphHost: new (
  ctx: ExecutionContext<HostProps>,
  env: Env,
) => WorkerEntrypoint<Env, HostProps> & GraphHostApi;
