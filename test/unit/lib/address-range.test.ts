import { describe, test } from "vitest";
import {
  isAddressRange,
  isInRanges,
  parseAddress,
  parseAddressRanges,
} from "../../../src/lib/address-range.ts";

const RANGES = parseAddressRanges("192.0.2.0/28,2001:db8:1::/48");

describe("address ranges", () => {
  test.for([
    ["192.0.2.15", true],
    ["192.0.2.16", false],
    ["::ffff:192.0.2.1", true],
    ["2001:db8:1:2::3", true],
    ["2001:db8:2::1", false],
    ["", false],
    ["192.0.2.1, 198.51.100.1", false],
  ] as const)("contain the address %s: %s", ([address, expected], { expect }) => {
    const parsed = parseAddress(address);
    expect(parsed !== null && isInRanges(parsed, RANGES)).toBe(expected);
  });

  test.for([
    ["192.0.2.0/28", true],
    ["2001:db8::/32", true],
    ["192.0.2.0", false],
    ["192.0.2.0/33", false],
    ["home", false],
  ] as const)("must have a prefix length: %s", ([text, expected], { expect }) => {
    expect(isAddressRange(text)).toBe(expected);
  });
});
