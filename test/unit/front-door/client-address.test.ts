import { describe, test } from "vitest";
import { clientAddress } from "../../../src/front-door/client-address.ts";
import { parseAddressRanges } from "../../../src/lib/address-range.ts";

const PROXIES = parseAddressRanges("10.0.0.0/8, 2001:db8:ffff::/48,192.0.2.7");

describe("clientAddress", () => {
  test.for([
    ["203.0.113.9", undefined, "203.0.113.9"],
    ["::ffff:203.0.113.9", undefined, "203.0.113.9"],
    ["2001:db8:1:2:3:4:5:6", undefined, "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::1", undefined, "2001:db8:1:2::/64"],
    [undefined, "203.0.113.9", "unknown"],
    ["nonsense", undefined, "unknown"],
    ["1", undefined, "unknown"],
  ])("%s, forwarded %s: %s", ([connecting, forwarded, address], { expect }) => {
    expect(clientAddress({ connecting, forwarded }, [])).toBe(address);
  });

  test("believes nobody but trusted proxies", ({ expect }) => {
    const forwarded = "198.51.100.1";
    expect(clientAddress({ connecting: "203.0.113.9", forwarded }, PROXIES)).toBe("203.0.113.9");
    expect(clientAddress({ connecting: "10.1.2.3", forwarded }, PROXIES)).toBe("198.51.100.1");
    expect(clientAddress({ connecting: "2001:db8:ffff::1", forwarded }, PROXIES)).toBe(
      "198.51.100.1",
    );
  });

  test.for([
    ["1.1.1.1, 198.51.100.1", "198.51.100.1"],
    ["198.51.100.1, 10.0.0.2, 192.0.2.7", "198.51.100.1"],
    ["10.0.0.2", "10.0.0.2"],
    ["nonsense", "10.1.2.3"],
    ["1.1.1.1, unknown, 10.0.0.2", "10.0.0.2"],
    ["", "10.1.2.3"],
  ])("of %s, the last that no trusted proxy is", ([forwarded, address], { expect }) => {
    expect(clientAddress({ connecting: "10.1.2.3", forwarded }, PROXIES)).toBe(address);
  });
});

describe("parseAddressRanges", () => {
  test.for(["10.0.0.0/33", "example.com", "10.0.0.0/8;192.0.2.7"])(
    "names %s",
    (text, { expect }) => {
      expect(() => parseAddressRanges(`192.0.2.1, ${text}`)).toThrow(text);
    },
  );
});
