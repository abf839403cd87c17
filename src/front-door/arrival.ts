import type { Settings } from "../env.ts";
import { type Address, type AddressRange, isInRanges, parseAddress } from "../lib/address-range.ts";
import type { FindKey } from "../lib/principal.ts";
import { Caller } from "./caller.ts";
import { deploymentAddress, publicHostOf, routedPath, type Surface, surfaceOf } from "./surface.ts";
import ipaddr from "ipaddr.js";

/** What is known of a request before routing. It is read once and used by all later handlers. */
export type Arrival = {
  /** The host of the request's URL in lower case, without a port. */
  hostname: string;
  /** The host that determines what is requested: for a private host, the public host that it stands for. */
  publicHost: string;
  isPrivate: boolean;
  /** Null when hosts are configured and the request's is none of them. */
  surface: Surface | null;
  /** The path by which the request is routed. */
  path: string;
  /** The address of the deployment that the request is for; null when the request names none. */
  deployment: string | null;
  caller: Caller;
  /** The client's address as the platform saw it; null when it is unknown, as on a local server. */
  address: Address | null;
  /** The client's address or network, as far as proxies can be trusted; "unknown" when none is given. */
  client: string;
};

/** Characters that belong to other parts of a URL than the host. */
const NO_HOST = /[\s/?#@\\,]/;

const arrivals = new WeakMap<Request, Arrival | null>();

/**
 * Returns the arrival of a request; null when its `Host` is not a single host. The runtime builds the URL from
 * `Host` unchecked.
 */
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

/** An IPv6 client gets a whole network of this size, and may use any address in it. */
const IPV6_NETWORK_BITS = 64;
const IPV6_NETWORK_PARTS = IPV6_NETWORK_BITS / 16;

/**
 * Returns the client's IPv4 address, or its IPv6 network; "unknown" when no address is given, as on a local
 * server. `connecting` is the address that the platform saw. `X-Forwarded-For` counts only as far as trusted
 * proxies have passed it on, because clients can write anything into it.
 */
export function clientAddress(
  { connecting, forwarded }: { connecting: string | undefined; forwarded: string | undefined },
  trustedProxies: readonly AddressRange[],
): string {
  let client = parseAddress(connecting);
  if (client === null) return "unknown";
  // The last entry was written by the proxy nearest to the server.
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
