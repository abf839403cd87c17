import { ApiError } from "../lib/api-error.ts";

/**
 * Encrypts stored secrets by AES-256-GCM under a key of ENCRYPTION_KEYS. Its form is `2:<key>,1:<key>`: each entry
 * is a version and 32 bytes in base64url. The first key encrypts, and every key decrypts. A new key is therefore
 * put first, and an old one can be removed when nothing sealed by it is left.
 */

/** An error that the operator has to fix. The message names ENCRYPTION_KEYS and contains no secret. */
export class SecretBoxError extends Error {
  override readonly name = "SecretBoxError";
}

type VersionedKey = { version: number; bytes: Uint8Array<ArrayBuffer> };

const KEY = /^([1-9]\d{0,8}):([A-Za-z0-9_-]{43})=?$/;
const NONCE_BYTES = 12;

/** A sealed secret: `<version of the key>.<base64url of nonce, ciphertext and tag>`. */
const SEALED = /^([1-9]\d{0,8})\.([A-Za-z0-9_-]+)$/;

/**
 * Encrypts a secret into text to store. `context` identifies the place where it is stored, for example by the ids
 * of the tenant and the owner: a text that is copied to another place cannot be opened there.
 */
export async function sealSecret(keys: string, plain: string, context: string): Promise<string> {
  const [first] = parseKeys(keys);
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = await crypto.subtle.encrypt(
    algorithm(nonce, context),
    await importKey(first, "encrypt"),
    new TextEncoder().encode(plain),
  );
  const bytes = Buffer.concat([nonce, new Uint8Array(sealed)]);
  return `${first.version}.${bytes.toString("base64url")}`;
}

/** Seals the secret again with the first of the keys. Throws the same errors as `openSecret`. */
export async function resealSecret(keys: string, sealed: string, context: string): Promise<string> {
  return sealSecret(keys, await openSecret(keys, sealed, context), context);
}

/**
 * Decrypts a sealed secret. Throws a `SecretBoxError` when no key opens it, or when `context` is not the one it
 * was sealed with.
 */
export async function openSecret(keys: string, sealed: string, context: string): Promise<string> {
  const [, versionText = "", data = ""] = SEALED.exec(sealed) ?? [];
  const version = Number(versionText);
  const key = parseKeys(keys).find((candidate) => candidate.version === version);
  if (key === undefined) {
    throw new SecretBoxError(
      `ENCRYPTION_KEYS has no key of version ${version}, but secrets need it`,
    );
  }
  const bytes = new Uint8Array(Buffer.from(data, "base64url"));
  try {
    const plain = await crypto.subtle.decrypt(
      algorithm(bytes.slice(0, NONCE_BYTES), context),
      await importKey(key, "decrypt"),
      bytes.slice(NONCE_BYTES),
    );
    return new TextDecoder().decode(plain);
  } catch {
    throw new SecretBoxError(
      `A secret cannot be opened: key ${version} of ENCRYPTION_KEYS is not the one that sealed it, or it was changed`,
    );
  }
}

/** Returns the versions of the keys, beginning with the one that encrypts. */
export function keyVersions(keys: string): [number, ...number[]] {
  const [first, ...others] = parseKeys(keys);
  return [first.version, ...others.map(({ version }) => version)];
}

/**
 * Does the work, and turns a `SecretBoxError` into an `unavailable` error, because only the operator can fix
 * ENCRYPTION_KEYS. `what` begins the message, such as "Secrets cannot be kept".
 */
export async function withSecretBox<T>(what: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    throw new ApiError("unavailable", `${what}: ${error.message}`);
  }
}

function parseKeys(keys: string): [VersionedKey, ...VersionedKey[]] {
  if (keys.trim() === "") {
    throw new SecretBoxError("ENCRYPTION_KEYS is not set, but secrets cannot be kept without it");
  }
  const [first, ...others] = keys.split(",").map(parseKey);
  const versions = new Set([first, ...others].map((key) => key?.version));
  if (first === undefined || versions.size !== others.length + 1) {
    throw new SecretBoxError("ENCRYPTION_KEYS has two keys of the same version");
  }
  return [first, ...others];
}

function parseKey(text: string): VersionedKey {
  const [, version, key] = KEY.exec(text.trim()) ?? [];
  if (version === undefined || key === undefined) {
    throw new SecretBoxError(
      "ENCRYPTION_KEYS should be <version>:<32 bytes in base64url>, several of them separated by commas",
    );
  }
  return { version: Number(version), bytes: new Uint8Array(Buffer.from(key, "base64url")) };
}

function importKey({ bytes }: VersionedKey, usage: "encrypt" | "decrypt"): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, [usage]);
}

function algorithm(iv: Uint8Array<ArrayBuffer>, context: string) {
  return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(context) };
}
