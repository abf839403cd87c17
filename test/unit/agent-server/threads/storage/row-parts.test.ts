import { concatBytes } from "../../../../../src/lib/bytes.ts";
import fc from "fast-check";
import { describe, test } from "vitest";
import { byteParts, textParts } from "../../../../../src/agent-server/threads/storage/row-parts.ts";

const ROW_LIMIT_BYTES = 2_000_000;

describe("textParts", () => {
  test("cuts into parts that fit a row and join to the same text", ({ expect }) => {
    fc.assert(
      fc.property(fc.constantFrom("a", "é", "語", "😀"), fc.nat(2_000_000), (char, length) => {
        const text = char.repeat(Math.ceil(length / char.length));
        const parts = textParts(text);
        expect(parts.join("") === text).toBe(true);
        for (const part of parts) {
          expect(new TextEncoder().encode(part).byteLength).toBeLessThan(ROW_LIMIT_BYTES);
          expect(part.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });

  test("keeps an empty text as one part", ({ expect }) => {
    expect(textParts("")).toEqual([""]);
  });
});

describe("byteParts", () => {
  test("cuts into parts that fit a row and join to the same bytes", ({ expect }) => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const large = new Uint8Array(5_000_000);
    for (let at = 0; at < large.length; at += bytes.length) {
      large.set(bytes.subarray(0, Math.min(bytes.length, large.length - at)), at);
    }
    const parts = byteParts(large);
    expect(parts.every((part) => part.byteLength < ROW_LIMIT_BYTES)).toBe(true);
    expect(Buffer.compare(concatBytes(parts), large)).toBe(0);
  });
});
