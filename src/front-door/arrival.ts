import type { Settings } from "../env.ts";
import { type Address, type AddressRange, isInRanges, parseAddress } from "../lib/address-range.ts";
import type { FindKey } from "../lib/principal.ts";
import { Caller } from "./caller.ts";
import { deploymentAddress, publicHostOf, routedPath, type Surface, surfaceOf } from "./surface.ts";
import ipaddr from "ipaddr.js";

/** What a request says of itself before any route is asked: read once, and taken by all that follows. */
export type Arrival = {
  /** The host of the request's URL in lower case, without a port. */
  hostname: string;
  /** The host that says what is asked for: a private one serves what its public one does. */
  publicHost: string;
  isPrivate: boolean;
  /** Null when hosts are configured and it is none of them. */
  surface: Surface | null;
  /** The path by which the request is routed. */
  path: string;
  /** What names the deployment that the request is for; null where nothing does. */
  deployment: string | null;
  caller: Caller;
  /** The address that the platform saw; null where it says none, such as on a local server. */
  address: Address | null;
  /** Who sent the request, as far as proxies can be believed; "unknown" where nobody says. */
  client: string;
};

/** What would be another part of a URL than its host. */
const NO_HOST = /[\s/?#@\\,]/;

const arrivals = new WeakMap<Request, Arrival | null>();

/** Null for a request whose `Host` is not one host: the runtime makes the URL of it, whatever it is. */
export function arrivalOf(request: Request, settings: Settings, findKey: FindKey): Arrival | null {
  let arrival = arrivals.get(request);
  if (arrival === undefined) {
    arrival = read(request, settings, findKey);
    arrivals.set(request, arrival);
  }
  return arrival;
}

function read({ url, headers }: Request, settings: Settings, findKey: FindKey): Arrival | null {
  const parsed = URL.parse(url);
  if (parsed === null || NO_HOST.test(headers.get("host") ?? "")) return null;
  const { pathname } = parsed;
  const hostname = parsed.hostname.toLowerCase();
  const publicTwin = publicHostOf(hostname, settings);
  const publicHost = publicTwin ?? hostname;
  const connecting = headers.get("cf-connecting-ip") ?? undefined;
  const forwarded = headers.get("x-forwarded-for") ?? undefined;
  return {
    hostname,
    publicHost,
    isPrivate: publicTwin !== null,
    surface: surfaceOf(publicHost, pathname, settings.hosts),
    path: routedPath(publicHost, pathname, settings.hosts),
    deployment: deploymentAddress(publicHost, pathname, settings.hosts),
    caller: new Caller(headers, findKey),
    address: parseAddress(connecting),
    client: clientAddress({ connecting, forwarded }, settings.trustedProxies),
  };
}

/** Clients of IPv6 get whole networks of this size, and may use any address of them. */
const IPV6_NETWORK_BITS = 64;
const IPV6_NETWORK_PARTS = IPV6_NETWORK_BITS / 16;

/**
 * Who sent a request: an IPv4 address, or the network of an IPv6 one; "unknown" where nobody says,
 * such as on a local server. `connecting` is the address that the platform saw. What a client writes
 * into `X-Forwarded-For` counts only as far as trusted proxies have passed it on.
 */
export function clientAddress(
  { connecting, forwarded }: { connecting: string | undefined; forwarded: string | undefined },
  trustedProxies: readonly AddressRange[],
): string {
  let client = parseAddress(connecting);
  if (client === null) return "unknown";
  // The proxy nearest to us has written the last entry.
  const hops = forwarded?.split(",") ?? [];
  while (isInRanges(client, trustedProxies)) {
    const before = parseAddress(hops.pop()?.trim());
    if (before === null) break;
    client = before;
  }
  return networkOf(client);
}

function networkOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  const network = address.parts.map((part, index) => (index < IPV6_NETWORK_PARTS ? part : 0));
  return `${new ipaddr.IPv6(network).toString()}/${IPV6_NETWORK_BITS}`;
}
