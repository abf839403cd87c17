import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and the number of its leading bits that are compared. */
export type AddressRange = [address: Address, bits: number];

/** Whether a text is a range of addresses in CIDR notation, such as 192.0.2.0/24 or 2001:db8::/32. */
export function isAddressRange(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

/**
 * Reads addresses and CIDR ranges separated by commas. Throws an error that names the first entry that is neither.
 */
export function parseAddressRanges(text: string): AddressRange[] {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").map(parseAddressRange);
}

/** Reads one address or CIDR range. Throws an error that names the text when it is neither. */
export function parseAddressRange(text: string): AddressRange {
  try {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address instanceof ipaddr.IPv4 ? 32 : 128];
  } catch {
    throw new Error(`${JSON.stringify(text)} is neither an IP address nor a range of them`);
  }
}

/**
 * Reads an address as proxies write it; returns null for any other text. An IPv4-mapped IPv6 address becomes its
 * IPv4 address.
 */
export function parseAddress(text: string | undefined): Address | null {
  // The library also accepts `1` and `0x7f000001` as addresses; no proxy writes them.
  if (text === undefined || !/[.:].*[.:]/.test(text) || !ipaddr.isValid(text)) return null;
  return ipaddr.process(text);
}

export function isInRanges(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([range, bits]) => {
    if (address instanceof ipaddr.IPv4) {
      return range instanceof ipaddr.IPv4 && address.match(range, bits);
    }
    return range instanceof ipaddr.IPv6 && address.match(range, bits);
  });
}
