import type { Hosts } from "../env.ts";

/** `/v1/projects/` is where the ecosystem's tools ask the control plane for logs. */
const CONTROL_PLANE_PATH = /^\/(v2|v1\/projects)\//;

export type Surface = "agent-server" | "control-plane" | "tracing";

/** Which surface a host answers with; null when hosts are configured and it is none of them. */
export function surfaceOf(hostname: string, path: string, hosts: Hosts): Surface | null {
  const { api, controlPlane, agentsDomain } = hosts;
  if (api === null && controlPlane === null && agentsDomain === null) return surfaceOfPath(path);
  const host = hostname.toLowerCase();
  if (host === controlPlane) return "control-plane";
  if (host === agentsDomain) return "agent-server";
  return host === api ? "tracing" : null;
}

function surfaceOfPath(path: string): Surface {
  if (CONTROL_PLANE_PATH.test(path)) return "control-plane";
  return /^\/(api\/v[12]|otel)\//.test(path) ? "tracing" : "agent-server";
}

/**
 * The path by which a request is routed. On the tracing API's host the prefix may be left out, and
 * exporters know their own path; the other surfaces are routed as they are asked.
 */
export function routedPath(hostname: string, path: string, hosts: Hosts): string {
  if (surfaceOf(hostname, path, hosts) !== "tracing" || path.startsWith("/api/")) return path;
  return path.startsWith("/v2/") ? `/api${path}` : `/api/v1${path}`;
}

/** Whether a path, as it is routed, is one of this surface's. */
export function isPathOf(surface: Surface | null, path: string): boolean {
  if (path.startsWith("/api/")) return surface === "tracing";
  return surface === (CONTROL_PLANE_PATH.test(path) ? "control-plane" : "agent-server");
}
