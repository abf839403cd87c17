/**
 * Signatures of webhooks by "Standard Webhooks" 1.0.0 (https://www.standardwebhooks.com), whose libraries verify
 * them. They are computed by the platform's native HMAC: the standard's JavaScript library does not use native
 * code, and a body can have megabytes.
 */

/** The standard requires 24 to 64 bytes. */
const KEY_BYTES = 32;

const KEY_PREFIX = "whsec_";
const ALGORITHM = { name: "HMAC", hash: "SHA-256" };

/** The parts of a message that are signed. `timestamp` is in seconds since the epoch. */
type SignedMessage = { id: string; timestamp: number; body: string };

/** Returns a new key in the form that verifying libraries accept. */
export function newWebhookKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return KEY_PREFIX + Buffer.from(bytes).toString("base64");
}

/** Returns the headers of a message with one signature per key. Receivers accept it when one of them verifies. */
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
