import { describe, test } from "vitest";
import { isHexSignatureOf } from "../../../src/secrets/signature.ts";

/** The values with which GitHub's documentation tests a receiver. */
const SECRET = "It's a Secret to Everybody";
const BYTES = new TextEncoder().encode("Hello, World!");
const SIGNATURE = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

describe("a hexadecimal signature", () => {
  test("equals GitHub's", async ({ expect }) => {
    expect(await isHexSignatureOf(SECRET, BYTES, SIGNATURE)).toBe(true);
  });

  test.for([
    ["of another secret", "Another secret of somebody", BYTES, SIGNATURE],
    ["of other bytes", SECRET, new TextEncoder().encode("Hello, World"), SIGNATURE],
    ["that is cut off", SECRET, BYTES, SIGNATURE.slice(0, -2)],
    ["with more digits", SECRET, BYTES, `${SIGNATURE}00`],
    ["with a character that is not a digit", SECRET, BYTES, `${SIGNATURE.slice(0, -1)}g`],
    ["without digits", SECRET, BYTES, ""],
  ] as const)("is refused if it is one %s", async ([, secret, bytes, signature], { expect }) => {
    expect(await isHexSignatureOf(secret, bytes, signature)).toBe(false);
  });
});
