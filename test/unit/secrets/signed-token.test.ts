import { describe, test } from "vitest";
import { readToken, signToken } from "../../../src/secrets/signed-token.ts";

const SECRET = "a secret of the installation";
const VALUE = { objectPath: "w/uploads/ä.tar.gz" };
const HOUR = 3_600_000;

describe("a signed token", () => {
  test("contains the signed value", async ({ expect }) => {
    const token = await signToken(SECRET, "upload", VALUE, HOUR);
    expect(token).toMatch(/^[\w-]+\.[\w-]+$/);
    expect(await readToken(SECRET, "upload", token)).toEqual(VALUE);
  });

  test("is invalid for another purpose or with another secret", async ({ expect }) => {
    const token = await signToken(SECRET, "upload", VALUE, HOUR);
    expect(await readToken(SECRET, "attachment", token)).toBeNull();
    expect(await readToken("the secret of another one", "upload", token)).toBeNull();
  });

  test("is invalid after any change", async ({ expect }) => {
    const token = await signToken(SECRET, "upload", VALUE, HOUR);
    const [body = "", signature = ""] = token.split(".");
    const other = Buffer.from(
      JSON.stringify({ ...VALUE, expiresAt: Date.now() + 2 * HOUR }),
    ).toString("base64url");
    const changed = [
      `${other}.${signature}`,
      `${body}.${signature.slice(1)}`,
      `${body}.`,
      `${body}.${signature}.`,
      `${body}.${signature}!`,
      body,
      "",
    ];
    for (const text of changed) expect(await readToken(SECRET, "upload", text)).toBeNull();
  });

  test("is invalid after its expiry", async ({ expect }) => {
    const token = await signToken(SECRET, "upload", VALUE, -1);
    expect(await readToken(SECRET, "upload", token)).toBeNull();
  });

  test("is not made with a secret that could be guessed", async ({ expect }) => {
    await expect(signToken("short", "upload", VALUE, HOUR)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("SIGNING_SECRET has fewer than 16 characters") as string,
    });
    await expect(readToken("", "upload", "a.b")).rejects.toThrow("SIGNING_SECRET is not set");
  });
});
