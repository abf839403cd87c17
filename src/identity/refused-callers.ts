import ipaddr from "ipaddr.js";
import { isPublicHost } from "../lib/endpoint-address.ts";
import { hasHost, type HostList } from "../lib/host-list.ts";
import type { Settings } from "../env.ts";
import { otherRegion } from "../lib/region.ts";
import { apiKeyRegion } from "./api-key.ts";

type Asked = {
  /** The host of the address that the request was sent to. */
  hostname: string;
  /** The header, which browsers set and pages cannot. */
  origin: string | undefined;
};

type Known = {
  trustedHosts: HostList;
  /** Whether requests come by hosts that the operator has configured. */
  hasOwnHosts: boolean;
};

/**
 * Why a server without keys refuses a request; null when it may go on. Any page that its user opens could
 * send it requests, so a page has to be of this machine or of the server's own host. And because a page can
 * have its own name resolve to this machine, the server's name has to be none that is public.
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
 * What to tell somebody who came with a key of the other region; null for all other keys. The host is
 * the other region's for what was asked for here, which `publicHost` tells.
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
