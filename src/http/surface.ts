import type { Hosts } from "../env.ts";

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
  if (path.startsWith("/v2/")) return "control-plane";
  return /^\/(api\/v[12]|otel)\//.test(path) ? "tracing" : "agent-server";
}
