import type { Hosts } from "../front-door/settings.ts";

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
