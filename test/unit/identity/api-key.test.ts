import { createHash } from "node:crypto";
import { describe, test } from "vitest";
import {
  apiKeyPrefix,
  generateApiKey,
  hashApiKey,
  sameHash,
} from "../../../src/identity/api-key.ts";

describe("API keys", () => {
  test("are tw_ and 43 base64url characters, new each time", ({ expect }) => {
    const keys = Array.from({ length: 50 }, generateApiKey);
    for (const key of keys) expect(key).toMatch(/^tw_[\w-]{43}$/);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("show a prefix that is far from the key", ({ expect }) => {
    expect(apiKeyPrefix("tw_0123456789abcdef")).toBe("tw_01234567");
  });

  test("hash as SHA-256 in hex", async ({ expect }) => {
    const key = generateApiKey();
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
