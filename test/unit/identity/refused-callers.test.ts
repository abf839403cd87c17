import { describe, test } from "vitest";
import { openServerRefusal, otherRegionText } from "../../../src/identity/refused-callers.ts";
import { generateApiKey } from "../../../src/identity/api-key.ts";

type Known = Parameters<typeof openServerRefusal>[1];

const CLOSED: Known = { trustedHosts: [], hasOwnHosts: false };
const LISTED: Known = { trustedHosts: ["studio.example", "*.acme.example"], hasOwnHosts: false };

function isAdmitted(hostname: string, origin?: string, known = CLOSED): boolean {
  return openServerRefusal({ hostname, origin }, known) === null;
}

describe("a server without keys", () => {
  test.for([
    ["127.0.0.1"],
    ["localhost"],
    ["[::1]"],
    ["192.168.1.5"],
    ["threadworks"],
    ["box.local"],
    ["127.0.0.1", "http://localhost:3000"],
    ["localhost", "http://127.0.0.1:5173"],
    ["localhost", "http://app.localhost"],
    ["localhost", "https://[::1]:8443"],
    ["192.168.1.5", "http://192.168.1.5:2024"],
  ] as const)(
    "accepts requests of this machine or its own pages: %j",
    ([host, origin], { expect }) => {
      expect(isAdmitted(host, origin)).toBe(true);
    },
  );

  test.for([
    ["evil.example"],
    ["8.8.8.8"],
    ["127.0.0.1.nip.io"],
    ["evil.example", "http://evil.example"],
    ["127.0.0.1", "https://evil.example"],
    ["127.0.0.1", "http://127.0.0.1.evil.example"],
    ["127.0.0.1", "http://localhost.evil.example"],
    ["127.0.0.1", "http://192.168.1.1"],
    ["127.0.0.1", "http://intranet"],
    ["127.0.0.1", "null"],
    ["127.0.0.1", ""],
    ["127.0.0.1", "file://"],
    ["127.0.0.1", "nonsense"],
  ] as const)("refuses all others: %j", ([host, origin], { expect }) => {
    expect(isAdmitted(host, origin)).toBe(false);
  });

  test("accepts listed hosts and origins", ({ expect }) => {
    expect(isAdmitted("studio.example", "https://studio.example", LISTED)).toBe(true);
    expect(isAdmitted("127.0.0.1", "https://eu.acme.example", LISTED)).toBe(true);
    expect(isAdmitted("acme.example", undefined, LISTED)).toBe(false);
    const any = { trustedHosts: ["*"], hasOwnHosts: false };
    expect(isAdmitted("any.example", "https://evil.example", any)).toBe(true);
    expect(isAdmitted("127.0.0.1", "null", any)).toBe(true);
  });

  test("accepts requests to its own host, except from foreign pages", ({ expect }) => {
    const own = { trustedHosts: [], hasOwnHosts: true };
    expect(isAdmitted("agents.example", undefined, own)).toBe(true);
    expect(isAdmitted("agents.example", "https://agents.example", own)).toBe(true);
    expect(isAdmitted("agents.example", "https://evil.example", own)).toBe(false);
  });

  test("says what to do in its refusal", ({ expect }) => {
    expect(openServerRefusal({ hostname: "evil.example", origin: undefined }, CLOSED)).toBe(
      "This server has AGENT_AUTH=none and takes no requests by the host evil.example: " +
        "add evil.example to TRUSTED_HOSTS, or set AGENT_AUTH=api-key",
    );
    const asked = { hostname: "127.0.0.1", origin: "https://evil.example" };
    expect(openServerRefusal(asked, CLOSED)).toContain("of pages from https://evil.example: add");
  });
});

const HOSTS = { api: "api.test", controlPlane: "control.test", agentsDomain: "agents.test" };
const OTHER = {
  api: "eu.api.test",
  controlPlane: "eu.control.test",
  agentsDomain: "eu.agents.test",
};
const NONE = { api: null, controlPlane: null, agentsDomain: null };

function textIn(hostname: string, otherRegionHosts = OTHER as typeof OTHER | typeof NONE) {
  const settings = { region: "us", hosts: HOSTS, otherRegionHosts } as const;
  return otherRegionText(generateApiKey("eu"), hostname, settings);
}

describe("a key of the other region", () => {
  test.for([
    ["api.test", "eu.api.test"],
    ["control.test", "eu.control.test"],
    ["notagents.test", "eu.api.test"],
    ["agents.test", "eu.agents.test"],
    ["weather.agents.test", "eu.agents.test"],
  ] as const)("gets the host to use, on %s", ([asked, right], { expect }) => {
    expect(textIn(asked)).toBe(`This API key is of the EU region: use https://${right}`);
  });

  test("gets the API's host if no other is configured", ({ expect }) => {
    const api = "eu.api.test";
    const text = otherRegionText(generateApiKey("eu"), "control.test", {
      region: "us",
      hosts: HOSTS,
      otherRegionHosts: { ...NONE, api },
    });
    expect(text).toBe(`This API key is of the EU region: use https://${api}`);
  });

  test("gets the region if no host is configured", ({ expect }) => {
    expect(textIn("api.test", NONE)).toBe(
      "This API key is of the EU region: use the host of that region",
    );
  });

  test("is neither a key of this region nor one without a region", ({ expect }) => {
    const settings = { region: "us", hosts: HOSTS, otherRegionHosts: OTHER } as const;
    for (const key of [generateApiKey("us"), `tw_${"x".repeat(43)}`, "eyJ.a.b"]) {
      expect(otherRegionText(key, "api.test", settings)).toBeNull();
    }
  });
});
