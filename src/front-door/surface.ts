import type { Hosts } from "./settings.ts";
import type { Settings } from "../env.ts";

/**
 * Paths of the control plane. Below `/v1` are only logs, for the ecosystem's tools, and the integrations with Git
 * hosts.
 */
const CONTROL_PLANE_PATH = /^\/(v2|v1\/(?:projects|integrations))\//;

/**
 * The console's pages and the paths of links to them. They are on the tracing API's host, whose responses link
 * there.
 */
const CONSOLE_PATH =
  /^\/(?:console(?:\/|$)|o\/[^/]+\/(?:projects\/p|host\/deployments)\/|public\/[^/]+\/r$)/;

export type Surface = "agent-server" | "control-plane" | "tracing";

/** Returns the surface that a host serves; null when hosts are configured and it is none of them. */
export function surfaceOf(hostname: string, path: string, hosts: Hosts): Surface | null {
  const { api, controlPlane, agentsDomain } = hosts;
  if (api === null && controlPlane === null && agentsDomain === null) return surfaceOfPath(path);
  const host = hostname.toLowerCase();
  // These are checked before the agents' domain: if they are below it, a deployment's name could otherwise take
  // them over.
  if (host === controlPlane) return "control-plane";
  if (host === api) return "tracing";
  const isOfAgents = host === agentsDomain || host.endsWith(`.${agentsDomain}`);
  return agentsDomain !== null && isOfAgents ? "agent-server" : null;
}

function surfaceOfPath(path: string): Surface {
  if (CONTROL_PLANE_PATH.test(path)) return "control-plane";
  const isTracing = /^\/(api\/v[12]|otel)\//.test(path) || CONSOLE_PATH.test(path);
  return isTracing ? "tracing" : "agent-server";
}

const DEPLOYMENT_PATH = /^\/deployments\/([^/]+)(\/.*)?$/;

/**
 * Returns the address of the deployment that a request is for: the label below the agents' domain, or the second
 * segment of a path that begins with `/deployments/`. Null when the request names none.
 */
export function deploymentAddress(hostname: string, path: string, hosts: Hosts): string | null {
  if (surfaceOf(hostname, path, hosts) !== "agent-server") return null;
  const label = labelBelow(hostname, hosts.agentsDomain);
  const address = label ?? DEPLOYMENT_PATH.exec(path)?.[1];
  return address === undefined ? null : address.toLowerCase();
}

function labelBelow(hostname: string, domain: string | null): string | undefined {
  const host = hostname.toLowerCase();
  if (domain === null || !host.endsWith(`.${domain}`)) return undefined;
  return host.slice(0, -domain.length - 1);
}

/**
 * Returns the path by which a request is routed. On the tracing API's host the prefix may be left out, and
 * exporters append a path of their own. A deployment has the same paths as every agent server.
 */
export function routedPath(hostname: string, path: string, hosts: Hosts): string {
  const surface = surfaceOf(hostname, path, hosts);
  if (surface === "agent-server" && labelBelow(hostname, hosts.agentsDomain) === undefined) {
    const [of, , below = "/"] = DEPLOYMENT_PATH.exec(path) ?? [];
    return of === undefined ? path : below;
  }
  if (surface !== "tracing" || path.startsWith("/api/") || CONSOLE_PATH.test(path)) return path;
  return path.startsWith("/v2/") ? `/api${path}` : `/api/v1${path}`;
}

/** Whether a routed path belongs to this surface. */
export function isPathOf(surface: Surface | null, path: string): boolean {
  if (path.startsWith("/api/")) return surface === "tracing";
  if (surface === "tracing") return CONSOLE_PATH.test(path);
  return surface === (CONTROL_PLANE_PATH.test(path) ? "control-plane" : "agent-server");
}

/**
 * Each configured host has a private twin, `<region>.p.<host>`, which customers reach from their own networks.
 * Hosts below it are private twins too: `<name>.<region>.p.<host>` is the twin of `<name>.<host>`.
 */

type HostSettings = Pick<Settings, "region" | "hosts">;

/** Returns the public host of a private one; null when the host is not private. */
export function publicHostOf(hostname: string, { region, hosts }: HostSettings): string | null {
  return replaceSuffix(hostname, hosts, (host) => [`${region}.p.${host}`, host]);
}

/** Returns the private twin of a public host; null when the host is not among the configured ones. */
export function privateHostOf(hostname: string, { region, hosts }: HostSettings): string | null {
  return replaceSuffix(hostname, hosts, (host) => [host, `${region}.p.${host}`]);
}

function replaceSuffix(
  hostname: string,
  { api, controlPlane, agentsDomain }: Settings["hosts"],
  change: (host: string) => [from: string, to: string],
): string | null {
  const name = hostname.toLowerCase();
  for (const host of [api, controlPlane, agentsDomain]) {
    if (host === null) continue;
    const [from, to] = change(host);
    if (name === from) return to;
    if (name.endsWith(`.${from}`)) return name.slice(0, -from.length) + to;
  }
  return null;
}
