import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { CloudflareApi } from "./cloudflare-api.ts";

const KEY_BYTES = 32;
const secretList = z.array(z.looseObject({ name: z.string() }));

/** Returns the names of a Worker's secrets; undefined when there is no such Worker. */
export async function listSecrets(
  api: CloudflareApi,
  worker: string,
): Promise<ReadonlySet<string> | undefined> {
  const found = await api.find(`/workers/scripts/${worker}/secrets`);
  if (found === undefined) return undefined;
  return new Set(secretList.parse(found).map(({ name }) => name));
}

export async function setSecrets(
  api: CloudflareApi,
  worker: string,
  secrets: Record<string, string>,
): Promise<void> {
  for (const [name, text] of Object.entries(secrets)) {
    const body = { name, text, type: "secret_text" };
    await api.request("PUT", `/workers/scripts/${worker}/secrets`, { body });
  }
}

/**
 * Generates the secrets without which the platform does not work. An installation keeps those that it already
 * has.
 */
export function generateSecrets(): Record<string, string> {
  return { SIGNING_SECRET: newSecret(), ENCRYPTION_KEYS: `1:${newSecret()}` };
}

export function newSecret(): string {
  return randomBytes(KEY_BYTES).toString("base64url");
}

export function digestOfTexts(...texts: (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text).update("\0");
  return hash.digest("hex");
}
