/**
 * Signatures of webhooks as "Standard Webhooks" 1.0.0 has them (https://www.standardwebhooks.com): its libraries verify
 * them. They are made by the platform's own HMAC, because that of the library for JavaScript is no native code, and a
 * body can have megabytes.
 */

/** The standard asks for 24 to 64. */
const KEY_BYTES = 32;

const KEY_PREFIX = "whsec_";
const ALGORITHM = { name: "HMAC", hash: "SHA-256" };

/** The bytes of a message that are signed; `timestamp` is in seconds. */
type SignedMessage = { id: string; timestamp: number; body: string };

/** A new key, in the form in which verifying libraries take it. */
export function newWebhookKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return KEY_PREFIX + Buffer.from(bytes).toString("base64");
}

/** The headers of a message, with a signature by each of the keys: one that verifies is enough. */
export async function webhookHeaders(
  keys: readonly string[],
  { id, timestamp, body }: SignedMessage,
): Promise<Record<string, string>> {
  const bytes = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signatures = keys.map(async (key) => `v1,${await signatureOf(key, bytes)}`);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": (await Promise.all(signatures)).join(" "),
  };
}

async function signatureOf(key: string, bytes: BufferSource): Promise<string> {
  const secret = Buffer.from(key.slice(KEY_PREFIX.length), "base64");
  const imported = await crypto.subtle.importKey("raw", new Uint8Array(secret), ALGORITHM, false, [
    "sign",
  ]);
  const signature = await crypto.subtle.sign(ALGORITHM.name, imported, bytes);
  return Buffer.from(signature).toString("base64");
}
