import { describe, test } from "vitest";
import { isSignedCall, signCall } from "../../../src/secrets/signed-call.ts";

const SECRET = "a secret of both regions";
const CALL = { method: "GET", url: "https://api.test/api/v1/internal/plans/1?a=b" };
const NOW = 1_800_000_000_000;

async function isTaken(changes: {
  secrets?: string;
  call?: Partial<typeof CALL>;
  now?: number;
  headers?: Record<string, string>;
}): Promise<boolean> {
  const headers = { ...(await signCall(SECRET, CALL, NOW)), ...changes.headers };
  const call = { ...CALL, ...changes.call };
  return isSignedCall(changes.secrets ?? SECRET, call, new Headers(headers), changes.now ?? NOW);
}

describe("a signed call", () => {
  test("is valid for a minute, with clocks that differ by a minute", async ({ expect }) => {
    for (const now of [NOW, NOW + 60_000, NOW - 60_000]) expect(await isTaken({ now })).toBe(true);
    for (const now of [NOW + 60_001, NOW - 60_001]) expect(await isTaken({ now })).toBe(false);
  });

  test.for([
    { method: "POST" },
    { url: "https://api.test/api/v1/internal/plans/2?a=b" },
    { url: "https://api.test/api/v1/internal/plans/1?a=c" },
  ])("is invalid for another call: %o", async (call, { expect }) => {
    expect(await isTaken({ call })).toBe(false);
  });

  test("is valid under another name of the host", async ({ expect }) => {
    const url = CALL.url.replace("api.test", "us.api.test");
    expect(await isTaken({ call: { url } })).toBe(true);
  });

  test("is invalid with another time, signature or secret", async ({ expect }) => {
    const later = { "x-threadworks-time": String(NOW + 1) };
    expect(await isTaken({ headers: later })).toBe(false);
    expect(await isTaken({ headers: { "x-threadworks-time": "" } })).toBe(false);
    expect(await isTaken({ headers: { "x-threadworks-signature": "" } })).toBe(false);
    expect(await isTaken({ headers: { "x-threadworks-signature": "%%" } })).toBe(false);
    expect(await isTaken({ secrets: `${SECRET}!` })).toBe(false);
  });

  test("is valid while the secret is being changed", async ({ expect }) => {
    expect(await isTaken({ secrets: `the secret that comes next, ${SECRET}` })).toBe(true);
  });

  test.for(["", "too short", ",,"])(
    "is neither accepted nor made without a secret: %o",
    async (secrets, { expect }) => {
      expect(await isTaken({ secrets })).toBe(false);
      await expect(signCall(secrets, CALL, NOW)).rejects.toThrow("REGION_SECRET");
    },
  );
});
