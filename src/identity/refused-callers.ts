import ipaddr from "ipaddr.js";
import { isPublicHost } from "../lib/endpoint-address.ts";
import { hasHost, type HostList } from "../lib/host-list.ts";
import type { Settings } from "../env.ts";
import { otherRegion } from "../lib/region.ts";
import { apiKeyRegion } from "./api-key.ts";

type Asked = {
  /** The host name of the URL that the request was sent to. */
  hostname: string;
  /** The `Origin` header, which browsers set and pages cannot change. */
  origin: string | undefined;
};

type Known = {
  trustedHosts: HostList;
  /** Whether the operator has configured hosts that serve the requests. */
  hasOwnHosts: boolean;
};

/**
 * Returns why a server without keys refuses a request; null when it is accepted. Any page that a user opens could
 * send requests to the server, so a page must come from this machine or from the server's own host. Because a page
 * can make its own name resolve to this machine, the server's host must not be a public name either.
 */
export function openServerRefusal({ hostname, origin }: Asked, known: Known): string | null {
  const { trustedHosts, hasOwnHosts } = known;
  if (!hasOwnHosts && isPublicHost(hostname) && !hasHost(trustedHosts, hostname)) {
    return refusal(`by the host ${hostname}`, hostname);
  }
  if (origin === undefined) return null;
  const from = URL.parse(origin)?.hostname ?? "";
  if (from === hostname || isLoopback(from) || hasHost(trustedHosts, from)) return null;
  return refusal(`of pages from ${origin.slice(0, 200)}`, from || "their host");
}

function refusal(what: string, host: string): string {
  return (
    `This server has AGENT_AUTH=none and takes no requests ${what}: ` +
    `add ${host} to TRUSTED_HOSTS, or set AGENT_AUTH=api-key`
  );
}

function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === "loopback";
  return host === "localhost" || host.endsWith(".localhost");
}

type RegionSettings = Pick<Settings, "region" | "hosts" | "otherRegionHosts">;

/**
 * Returns the message for a caller whose key belongs to the other region; null for all other keys. It names the
 * other region's host for the API that `publicHost` serves here.
 */
export function otherRegionText(
  key: string,
  publicHost: string,
  settings: RegionSettings,
): string | null {
  const { region, hosts, otherRegionHosts } = settings;
  if (apiKeyRegion(key) !== otherRegion(region)) return null;
  const { api, controlPlane, agentsDomain } = otherRegionHosts;
  const isAgent = `.${publicHost}`.endsWith(`.${hosts.agentsDomain}`);
  const asked = isAgent ? agentsDomain : publicHost === hosts.controlPlane ? controlPlane : api;
  const host = asked ?? api;
  const where = host === null ? "use the host of that region" : `use https://${host}`;
  return `This API key is of the ${otherRegion(region).toUpperCase()} region: ${where}`;
}
