import { ApiError } from "../lib/api-error.ts";

/**
 * Secrets at rest: AES-256-GCM under one of the keys of ENCRYPTION_KEYS, which has the form
 * `2:<key>,1:<key>`: a version and 32 bytes in base64url each. The first key encrypts, all of them
 * decrypt; so a new key goes in front, and an old one can be taken away when nothing is left that
 * it has encrypted.
 */

/** What an operator has to put right; the message names ENCRYPTION_KEYS and tells no secret. */
export class SecretBoxError extends Error {
  override readonly name = "SecretBoxError";
}

type VersionedKey = { version: number; bytes: Uint8Array<ArrayBuffer> };

const KEY = /^([1-9]\d{0,8}):([A-Za-z0-9_-]{43})=?$/;
const NONCE_BYTES = 12;

/** `<version of the key>.<base64url of nonce, ciphertext and tag>`. */
const SEALED = /^([1-9]\d{0,8})\.([A-Za-z0-9_-]+)$/;

/**
 * The secret as text to store. `context` says what it is of, such as ids of tenant and owner: a text
 * that is copied to another place cannot be opened there.
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

/** The same secret, sealed anew with the first of the keys. It throws as `openSecret` does. */
export async function resealSecret(keys: string, sealed: string, context: string): Promise<string> {
  return sealSecret(keys, await openSecret(keys, sealed, context), context);
}

/** Throws a `SecretBoxError` when no key opens it, or `context` is not that of its sealing. */
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

/** Versions of the keys, that of the one that encrypts first. */
export function keyVersions(keys: string): [number, ...number[]] {
  const [first, ...others] = parseKeys(keys);
  return [first.version, ...others.map(({ version }) => version)];
}

/**
 * Refuses as `unavailable` what fails because ENCRYPTION_KEYS is not as it has to be: that is the operator's to
 * mend. `what` begins the sentence, such as "Secrets cannot be kept".
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
