import { isSignatureOf, MIN_SECRET_CHARS, signatureOf } from "./signature.ts";

/**
 * Authenticates calls from one region to the other by an HMAC-SHA-256 of method, path and time under a secret that
 * both regions share. A recorded call cannot be replayed after a minute, and within that minute only exactly as it
 * was.
 */

const PURPOSE = "threadworks-region-call";
const TIME_HEADER = "x-threadworks-time";
const SIGNATURE_HEADER = "x-threadworks-signature";

/** Maximum difference between the regions' clocks plus the transit time of the call. */
const MAX_AGE_MS = 60_000;

export type RegionCall = { method: string; url: string };

/** Returns the headers of a call, signed with the first of the secrets. */
export async function signCall(
  secrets: string,
  call: RegionCall,
  now: number,
): Promise<Record<string, string>> {
  const [first] = secretsOf(secrets);
  if (first === undefined) {
    throw new Error(`REGION_SECRET must have at least ${MIN_SECRET_CHARS} characters`);
  }
  return {
    [TIME_HEADER]: String(now),
    [SIGNATURE_HEADER]: await signatureOf(first, signed(call, now)),
  };
}

/** Whether one of the secrets has signed exactly this call within MAX_AGE_MS. Always false without a secret. */
export async function isSignedCall(
  secrets: string,
  call: RegionCall,
  headers: Headers,
  now: number,
): Promise<boolean> {
  const time = headers.get(TIME_HEADER) ?? "";
  const signature = headers.get(SIGNATURE_HEADER) ?? "";
  if (!/^\d{1,15}$/.test(time) || Math.abs(now - Number(time)) > MAX_AGE_MS) return false;
  for (const secret of secretsOf(secrets)) {
    if (await isSignatureOf(secret, signed(call, Number(time)), signature)) return true;
  }
  return false;
}

/**
 * Splits the secrets. To rotate them, put a new secret first in one region after the other, then remove the old
 * one.
 */
function secretsOf(secrets: string): string[] {
  return secrets
    .split(",")
    .map((secret) => secret.trim())
    .filter((secret) => secret.length >= MIN_SECRET_CHARS);
}

function signed({ method, url }: RegionCall, time: number): string {
  const { pathname, search } = new URL(url);
  return [PURPOSE, method, pathname + search, time].join("\n");
}
