import { describe, test } from "vitest";
import { openServerRefusal } from "../../../src/identity/open-server.ts";

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
  ] as const)("takes what is of this machine or its own: %j", ([host, origin], { expect }) => {
    expect(isAdmitted(host, origin)).toBe(true);
  });

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
  ] as const)("takes nothing of others: %j", ([host, origin], { expect }) => {
    expect(isAdmitted(host, origin)).toBe(false);
  });

  test("takes what is listed", ({ expect }) => {
    expect(isAdmitted("studio.example", "https://studio.example", LISTED)).toBe(true);
    expect(isAdmitted("127.0.0.1", "https://eu.acme.example", LISTED)).toBe(true);
    expect(isAdmitted("acme.example", undefined, LISTED)).toBe(false);
    const any = { trustedHosts: ["*"], hasOwnHosts: false };
    expect(isAdmitted("any.example", "https://evil.example", any)).toBe(true);
    expect(isAdmitted("127.0.0.1", "null", any)).toBe(true);
  });

  test("takes what comes by a host of its own, and no foreign page even there", ({ expect }) => {
    const own = { trustedHosts: [], hasOwnHosts: true };
    expect(isAdmitted("agents.example", undefined, own)).toBe(true);
    expect(isAdmitted("agents.example", "https://agents.example", own)).toBe(true);
    expect(isAdmitted("agents.example", "https://evil.example", own)).toBe(false);
  });

  test("says what to do", ({ expect }) => {
    expect(openServerRefusal({ hostname: "evil.example", origin: undefined }, CLOSED)).toBe(
      "This server has AGENT_AUTH=none and takes no requests by the host evil.example: " +
        "add evil.example to TRUSTED_HOSTS, or set AGENT_AUTH=api-key",
    );
    const asked = { hostname: "127.0.0.1", origin: "https://evil.example" };
    expect(openServerRefusal(asked, CLOSED)).toContain("of pages from https://evil.example: add");
  });
});
