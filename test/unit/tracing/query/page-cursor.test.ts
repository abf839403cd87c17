import fc from "fast-check";
import { describe, test } from "vitest";
import { decodeCursor, encodeCursor } from "../../../../src/tracing/model/run-page.ts";

describe("a cursor", () => {
  test("is decoded to the position that it was made from", ({ expect }) => {
    const positions = fc.record({
      startTime: fc.maxSafeInteger(),
      id: fc.oneof(fc.uuid(), fc.string({ unit: "binary-ascii" })),
    });
    fc.assert(
      fc.property(positions, (position) => {
        const text = encodeCursor(position);
        expect(text).toMatch(/^[\w-]+$/);
        expect(decodeCursor(text)).toEqual(position);
      }),
    );
  });

  test.for([
    "",
    "nonsense",
    "!!!",
    btoa("{}"),
    btoa("[]"),
    btoa("[1]"),
    btoa('[1,"a","b"]'),
    btoa('["1","a"]'),
    btoa("[1,2]"),
    btoa('[1.5,"a"]'),
    btoa('[1e300,"a"]'),
    btoa("null"),
  ])("is refused if it is invalid: %s", (text, { expect }) => {
    expect(decodeCursor(text)).toBeNull();
  });

  test("never makes its reader throw", ({ expect }) => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => decodeCursor(text)).not.toThrow();
      }),
    );
  });
});
