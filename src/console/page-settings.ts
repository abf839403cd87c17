import type { Settings } from "../env.ts";
import type { Hosts } from "../front-door/settings.ts";
import { VERSION } from "../lib/version.ts";

/**
 * Where the console finds the APIs, and whether agents require a key. A null URL stands for the page's own origin.
 */
export type ConsoleConfig = {
  version: string;
  agents_need_key: boolean;
  agents_url: string | null;
  tracing_url: string | null;
  control_plane_url: string | null;
};

export function consoleConfig({ agentAuth, hosts }: Settings): ConsoleConfig {
  const url = (host: string | null): string | null => (host === null ? null : `https://${host}`);
  return {
    version: VERSION,
    agents_need_key: agentAuth !== "none",
    agents_url: url(hosts.agentsDomain),
    tracing_url: url(hosts.api),
    control_plane_url: url(hosts.controlPlane),
  };
}

/**
 * Returns the policy that limits the console's page to its own files and to the hosts of this installation.
 * Nothing is inline, so text from a trace cannot run as code or style even if it gets into the page unescaped.
 */
export function contentSecurityPolicy({ api, controlPlane, agentsDomain }: Hosts): string {
  const hosts = [
    api,
    controlPlane,
    ...(agentsDomain === null ? [] : [agentsDomain, `*.${agentsDomain}`]),
  ].filter((host) => host !== null);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...hosts.map((host) => `https://${host}`)].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
