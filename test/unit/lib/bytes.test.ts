import { describe, test } from "vitest";
import { readLimited, sameHash, sha256Hex } from "../../../src/lib/bytes.ts";
import { createHash } from "node:crypto";

/** Returns a body of single bytes, which counts those that were read before it was cancelled. */
function countedBody(size: number) {
  const seen = { read: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (seen.read === size) return controller.close();
        seen.read += 1;
        controller.enqueue(Uint8Array.of(seen.read));
      },
      cancel() {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

describe("a body that is read up to a limit", () => {
  test("is returned as one array", async ({ expect }) => {
    expect(await readLimited(countedBody(3).body, 3)).toEqual(Uint8Array.of(1, 2, 3));
    expect(await readLimited(null, 3)).toEqual(new Uint8Array(0));
  });

  test("is cancelled when it exceeds the limit", async ({ expect }) => {
    const { body, seen } = countedBody(10);

    expect(await readLimited(body, 3)).toBeNull();
    expect(seen).toEqual({ read: 4, isCancelled: true });
  });

  test("is drained if its end is near", async ({ expect }) => {
    const { body, seen } = countedBody(5);

    expect(await readLimited(body, 3, 2)).toBeNull();
    expect(seen).toEqual({ read: 5, isCancelled: false });
  });

  test("is cancelled if its end is far", async ({ expect }) => {
    const { body, seen } = countedBody(10);

    expect(await readLimited(body, 3, 2)).toBeNull();
    expect(seen).toEqual({ read: 6, isCancelled: true });
  });
});

describe("SHA-256 hashes", () => {
  test("are those of the text's UTF-8, in hexadecimal", async ({ expect }) => {
    for (const text of ["", "tw_us_key", "clé"]) {
      expect(await sha256Hex(text)).toBe(createHash("sha256").update(text).digest("hex"));
    }
  });

  test("are compared over their whole length", ({ expect }) => {
    expect(sameHash("abcd", "abcd")).toBe(true);
    expect(sameHash("abcd", "abce")).toBe(false);
    expect(sameHash("abcd", "bbcd")).toBe(false);
    expect(sameHash("abcd", "abc")).toBe(false);
    expect(sameHash("abc", "abcd")).toBe(false);
    expect(sameHash("", "a")).toBe(false);
  });
});
