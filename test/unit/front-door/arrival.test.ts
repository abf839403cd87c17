import { describe, test } from "vitest";
import { parseSettings } from "../../../src/env.ts";
import { arrivalOf, clientAddress } from "../../../src/front-door/arrival.ts";
import type { FindKey } from "../../../src/lib/principal.ts";
import { parseAddressRanges } from "../../../src/lib/address-range.ts";

const SETTINGS = parseSettings({
  REGION: "us",
  API_HOST: "api.test",
  CONTROL_PLANE_HOST: "control.test",
  AGENTS_DOMAIN: "agents.test",
  TRUSTED_PROXIES: "10.0.0.0/8",
});

const NO_KEYS: FindKey = async () => undefined;

function arrive(url: string, headers: Record<string, string> = {}) {
  return arrivalOf(new Request(url, { headers }), SETTINGS, NO_KEYS);
}

describe("the arrival of a request", () => {
  test("determines the surface, the host and the path for routing", ({ expect }) => {
    expect(arrive("https://US.p.API.test/sessions?limit=1")).toMatchObject({
      hostname: "us.p.api.test",
      publicHost: "api.test",
      isPrivate: true,
      surface: "tracing",
      path: "/api/v1/sessions",
      deployment: null,
    });
    expect(arrive("https://weather.agents.test/threads")).toMatchObject({
      publicHost: "weather.agents.test",
      isPrivate: false,
      surface: "agent-server",
      path: "/threads",
      deployment: "weather",
    });
    expect(arrive("https://other.test/threads")).toMatchObject({ surface: null, deployment: null });
  });

  test("determines the sender, as far as proxies are trusted", ({ expect }) => {
    const headers = { "cf-connecting-ip": "10.0.0.1", "x-forwarded-for": "198.51.100.1" };
    const arrival = arrive("https://api.test/info", headers);
    expect(arrival?.client).toBe("198.51.100.1");
    expect(arrival?.address?.toString()).toBe("10.0.0.1");
    expect(arrive("https://api.test/info")).toMatchObject({ client: "unknown", address: null });
  });

  test("is determined once for a request", ({ expect }) => {
    const request = new Request("https://api.test/info");
    expect(arrivalOf(request, SETTINGS, NO_KEYS)).toBe(arrivalOf(request, SETTINGS, NO_KEYS));
  });
});

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

  test("ignores headers of untrusted proxies", ({ expect }) => {
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
  ])(
    "returns for %s the last address that is not a trusted proxy",
    ([forwarded, address], { expect }) => {
      expect(clientAddress({ connecting: "10.1.2.3", forwarded }, PROXIES)).toBe(address);
    },
  );
});

describe("parseAddressRanges", () => {
  test.for(["10.0.0.0/33", "example.com", "10.0.0.0/8;192.0.2.7"])(
    "reports %s",
    (text, { expect }) => {
      expect(() => parseAddressRanges(`192.0.2.1, ${text}`)).toThrow(text);
    },
  );
});
