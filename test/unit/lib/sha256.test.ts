import { createHash } from "node:crypto";
import { describe, test } from "vitest";
import { sameHash, sha256Hex } from "../../../src/lib/sha256.ts";

describe("SHA-256 hashes", () => {
  test("are those of the text's UTF-8, in hexadecimal", async ({ expect }) => {
    for (const text of ["", "tw_us_key", "clé"]) {
      expect(await sha256Hex(text)).toBe(createHash("sha256").update(text).digest("hex"));
    }
  });

  test("compare by their whole length", ({ expect }) => {
    expect(sameHash("abcd", "abcd")).toBe(true);
    expect(sameHash("abcd", "abce")).toBe(false);
    expect(sameHash("abcd", "bbcd")).toBe(false);
    expect(sameHash("abcd", "abc")).toBe(false);
    expect(sameHash("abc", "abcd")).toBe(false);
    expect(sameHash("", "a")).toBe(false);
  });
});
