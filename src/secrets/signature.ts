/** HMAC-SHA-256 signatures: of texts, in base64url, and of bytes, in hexadecimal digits. */

/** Minimum length of a secret. A shorter one could be guessed. */
export const MIN_SECRET_CHARS = 16;

const ALGORITHM = { name: "HMAC", hash: "SHA-256" };

const BASE64URL = /^[A-Za-z0-9_-]+$/;
const SIGNATURE_IN_HEX = /^[0-9a-f]{64}$/;

export async function signatureOf(secret: string, text: string): Promise<string> {
  const signature = await crypto.subtle.sign(ALGORITHM.name, await keyOf(secret), bytesOf(text));
  return Buffer.from(signature).toString("base64url");
}

/** Whether `signature` is the signature of the text under this secret. The comparison takes constant time. */
export async function isSignatureOf(
  secret: string,
  text: string,
  signature: string,
): Promise<boolean> {
  if (!BASE64URL.test(signature)) return false;
  const bytes = Buffer.from(signature, "base64url");
  return crypto.subtle.verify(ALGORITHM.name, await keyOf(secret), bytes, bytesOf(text));
}

/** Whether a signature in hexadecimal digits, as GitHub makes them, is that of the bytes under this secret. */
export async function isHexSignatureOf(
  secret: string,
  bytes: Uint8Array,
  signature: string,
): Promise<boolean> {
  if (!SIGNATURE_IN_HEX.test(signature)) return false;
  const key = await keyOf(secret);
  const given = Buffer.from(signature, "hex");
  return crypto.subtle.verify(ALGORITHM.name, key, given, new Uint8Array(bytes));
}

function keyOf(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytesOf(secret), ALGORITHM, false, ["sign", "verify"]);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}
