import ipaddr from "ipaddr.js";

/** An address and how many of its bits count. */
export type AddressRange = [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** Clients of IPv6 get whole networks of this size, and may use any address of them. */
const IPV6_NETWORK_BITS = 64;
const IPV6_NETWORK_PARTS = IPV6_NETWORK_BITS / 16;

/** Reads addresses and CIDR ranges separated by commas; throws an error that names the one that is none. */
export function parseAddressRanges(text: string): AddressRange[] {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").map(parseRange);
}

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
  while (isTrusted(client, trustedProxies)) {
    const before = parseAddress(hops.pop()?.trim());
    if (before === null) break;
    client = before;
  }
  return networkOf(client);
}

function isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([range, bits]) => {
    if (address instanceof ipaddr.IPv4) {
      return range instanceof ipaddr.IPv4 && address.match(range, bits);
    }
    return range instanceof ipaddr.IPv6 && address.match(range, bits);
  });
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  const network = address.parts.map((part, index) => (index < IPV6_NETWORK_PARTS ? part : 0));
  return `${new ipaddr.IPv6(network).toString()}/${IPV6_NETWORK_BITS}`;
}

function parseAddress(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // `1` and `0x7f000001` are addresses to the library, not to a proxy.
  if (text === undefined || !/[.:].*[.:]/.test(text) || !ipaddr.isValid(text)) return null;
  return ipaddr.process(text);
}

function parseRange(text: string): AddressRange {
  try {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address instanceof ipaddr.IPv4 ? 32 : 128];
  } catch {
    throw new Error(`${JSON.stringify(text)} is neither an IP address nor a range of them`);
  }
}
