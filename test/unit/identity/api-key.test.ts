import { createHash } from "node:crypto";
import { describe, test } from "vitest";
import {
  apiKeyPrefix,
  apiKeyRegion,
  generateApiKey,
  hasApiKeyForm,
  hashApiKey,
  sameHash,
  singleValue,
} from "../../../src/identity/api-key.ts";

describe("API keys", () => {
  test("are tw_, the region and 43 base64url characters, new each time", ({ expect }) => {
    const keys = Array.from({ length: 50 }, () => generateApiKey("eu"));
    for (const key of keys) expect(key).toMatch(/^tw_eu_[\w-]{43}$/);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("tell their region, but for those from before there were regions", ({ expect }) => {
    expect(apiKeyRegion(generateApiKey("us"))).toBe("us");
    expect(apiKeyRegion(generateApiKey("eu"))).toBe("eu");
    // 43 random characters that happen to begin like a region.
    expect(apiKeyRegion(`tw_eu_${"x".repeat(40)}`)).toBeNull();
    expect(apiKeyRegion(`tw_ap_${"x".repeat(43)}`)).toBeNull();
    expect(apiKeyRegion("eu")).toBeNull();
  });

  test.for([
    [undefined, undefined],
    ["", ""],
    ["k", "k"],
    ["k, k", "k"],
    ["k,k,\tk", "k"],
    ["k, other", "k, other"],
    ["k, ", "k, "],
  ])("are one in a header that was sent several times: %j", ([header, key], { expect }) => {
    expect(singleValue(header)).toBe(key);
  });

  test("show a prefix that is far from the key", ({ expect }) => {
    expect(apiKeyPrefix("tw_0123456789abcdef")).toBe("tw_01234567");
    expect(apiKeyPrefix(`tw_us_0123456789${"x".repeat(33)}`)).toBe("tw_us_01234567");
  });

  test("are recognised in a header, also where they were sent twice or beside others", ({
    expect,
  }) => {
    const [key, other] = [generateApiKey("us"), generateApiKey("eu")];
    const headers = [key, `Bearer ${key}`, `${key}, ${key}`, `${key},${other}`, `x, ${key}`];
    for (const header of headers) expect(hasApiKeyForm(header)).toBe(true);
    for (const header of ["", "x, y", `${key}x`]) expect(hasApiKeyForm(header)).toBe(false);
  });

  test("hash as SHA-256 in hex", async ({ expect }) => {
    const key = generateApiKey("us");
    expect(await hashApiKey(key)).toBe(createHash("sha256").update(key).digest("hex"));
  });

  test("compare by their whole hash", ({ expect }) => {
    expect(sameHash("abcd", "abcd")).toBe(true);
    expect(sameHash("abcd", "abce")).toBe(false);
    expect(sameHash("abcd", "bbcd")).toBe(false);
    expect(sameHash("abcd", "abc")).toBe(false);
    expect(sameHash("abc", "abcd")).toBe(false);
    expect(sameHash("", "a")).toBe(false);
  });
});
