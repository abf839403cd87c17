import ipaddr from "ipaddr.js";

/** Whether a text is a range of addresses, such as 192.0.2.0/24 or 2001:db8::/32. */
export function isAddressRange(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

/** Whether an address is in one of the ranges. An IPv4 address may be written as an IPv6 one. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some((range) => {
    const [base, bits] = ipaddr.parseCIDR(range);
    return base.kind() === parsed.kind() && parsed.match([base, bits] as [ipaddr.IPv4, number]);
  });
}
