import type { Settings } from "../env.ts";
import type { Hosts } from "../front-door/settings.ts";
import { VERSION } from "../lib/version.ts";

/** Where the console finds the API, and whether agents ask for a key. A null URL is the page's own origin. */
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
 * What the console's page may load and ask: its own files, and the hosts of this installation. Nothing is inline, so
 * that text of a trace cannot become code or style, whatever way it finds into the page.
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
