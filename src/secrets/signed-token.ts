/**
 * Tokens that only this installation can have made: base64url JSON, a dot and its HMAC-SHA-256.
 * `purpose` keeps a token for one thing from being taken for another.
 */

const MIN_SECRET_CHARS = 16;

export async function signToken(secret: string, purpose: string, value: unknown): Promise<string> {
  const body = toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
  const signature = await crypto.subtle.sign("HMAC", await keyOf(secret), signed(purpose, body));
  return `${body}.${toBase64Url(new Uint8Array(signature))}`;
}

/** The value of a genuine token; null otherwise. */
export async function readToken(secret: string, purpose: string, token: string): Promise<unknown> {
  const [body, signature, more] = token.split(".");
  if (body === undefined || signature === undefined || more !== undefined) return null;
  const bytes = fromBase64Url(signature);
  if (bytes === null) return null;
  const genuine = await crypto.subtle.verify(
    "HMAC",
    await keyOf(secret),
    bytes,
    signed(purpose, body),
  );
  const text = genuine ? fromBase64Url(body) : null;
  return text === null ? null : (JSON.parse(new TextDecoder().decode(text)) as unknown);
}

function keyOf(secret: string): Promise<CryptoKey> {
  if (secret.length < MIN_SECRET_CHARS) {
    throw new Error(`SIGNING_SECRET must have at least ${MIN_SECRET_CHARS} characters`);
  }
  return crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
}

function signed(purpose: string, body: string): Uint8Array {
  return new TextEncoder().encode(`${purpose}\n${body}`);
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}
