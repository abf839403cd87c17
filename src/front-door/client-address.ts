import ipaddr from "ipaddr.js";
import { type Address, type AddressRange, isInRanges, parseAddress } from "../lib/address-range.ts";

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
