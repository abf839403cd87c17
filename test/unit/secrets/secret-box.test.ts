import { describe, test } from "vitest";
import {
  keyVersions,
  openSecret,
  sealSecret,
  SecretBoxError,
} from "../../../src/secrets/secret-box.ts";

const ONE = `1:${Buffer.alloc(32, 1).toString("base64url")}`;
const TWO = `2:${Buffer.alloc(32, 2).toString("base64url")}`;

describe("a sealed secret", () => {
  test("is opened by the key that sealed it, and contains its version", async ({ expect }) => {
    const sealed = await sealSecret(TWO, "geheim – 秘密", "here");
    expect(sealed).toMatch(/^2\.[A-Za-z0-9_-]+$/);
    expect(await openSecret(TWO, sealed, "here")).toBe("geheim – 秘密");
  });

  test("is a different text each time, and does not contain the secret", async ({ expect }) => {
    const texts = [
      await sealSecret(ONE, "secret", "here"),
      await sealSecret(ONE, "secret", "here"),
    ];
    expect(new Set(texts).size).toBe(2);
    for (const text of texts) {
      expect(Buffer.from(text.slice(2), "base64url").includes("secret")).toBe(false);
    }
  });

  test("of an older key is opened as long as that key is configured", async ({ expect }) => {
    const sealed = await sealSecret(ONE, "secret", "here");
    expect(await openSecret(`${TWO},${ONE}`, sealed, "here")).toBe("secret");
    expect(await openSecret(` ${TWO} , ${ONE}= `, sealed, "here")).toBe("secret");
    await expect(openSecret(TWO, sealed, "here")).rejects.toEqual(
      new SecretBoxError("ENCRYPTION_KEYS has no key of version 1, but secrets need it"),
    );
  });

  test("cannot be opened in another context", async ({ expect }) => {
    const sealed = await sealSecret(ONE, "secret", "here");
    await expect(openSecret(ONE, sealed, "there")).rejects.toThrow(SecretBoxError);
  });

  test("cannot be opened by another key of the same version", async ({ expect }) => {
    const sealed = await sealSecret(ONE, "secret", "here");
    const other = `1:${Buffer.alloc(32, 9).toString("base64url")}`;
    await expect(openSecret(other, sealed, "here")).rejects.toEqual(
      new SecretBoxError(
        "A secret cannot be opened: key 1 of ENCRYPTION_KEYS is not the one that sealed it, or it was changed",
      ),
    );
  });

  test("cannot be opened after a change", async ({ expect }) => {
    const sealed = await sealSecret(ONE, "secret", "here");
    const bytes = Buffer.from(sealed.slice(2), "base64url");
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      const text = `1.${changed.toString("base64url")}`;
      await expect(openSecret(ONE, text, "here")).rejects.toThrow(SecretBoxError);
    }
    await expect(openSecret(ONE, "1.AAAA", "here")).rejects.toThrow(SecretBoxError);
    await expect(openSecret(ONE, "secret", "here")).rejects.toThrow(SecretBoxError);
  });
});

describe("the keys", () => {
  test("have versions, with the encrypting one first", ({ expect }) => {
    expect(keyVersions(`${TWO},${ONE}`)).toEqual([2, 1]);
  });

  test.for<[keys: string, message: string]>([
    ["", "ENCRYPTION_KEYS is not set, but secrets cannot be kept without it"],
    [`${ONE},${ONE}`, "ENCRYPTION_KEYS has two keys of the same version"],
  ])("are refused with the variable's name: %j", ([keys, message], { expect }) => {
    expect(() => keyVersions(keys)).toThrow(new SecretBoxError(message));
  });

  test.for(["secret", ONE.slice(2), `0:${ONE.slice(2)}`, `${ONE}A`, `${ONE},`, "1:c2hvcnQ"])(
    "cannot have the form %j",
    (keys, { expect }) => {
      expect(() => keyVersions(keys)).toThrow(
        new SecretBoxError(
          "ENCRYPTION_KEYS should be <version>:<32 bytes in base64url>, several of them separated by commas",
        ),
      );
    },
  );
});
