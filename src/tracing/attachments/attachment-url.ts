import type { AppContext } from "../../http/app-types.ts";
import { readToken, signToken } from "../../secrets/signed-token.ts";

const PURPOSE = "attachment";
const LIFETIME_MS = 3_600_000;

const ATTACHMENTS_PATH = "/api/v1/attachments";

/** What an URL gives access to, without a key, until it expires. */
export type AttachmentGrant = { object: string; mimeType: string; expiresAt: number };

/** An absolute URL on the host that was asked. */
export async function objectUrl(c: AppContext, object: string, mimeType: string): Promise<string> {
  const grant: AttachmentGrant = { object, mimeType, expiresAt: Date.now() + LIFETIME_MS };
  const token = await signToken(c.var.settings.signingSecret, PURPOSE, grant);
  return new URL(`${ATTACHMENTS_PATH}/${token}`, c.req.url).href;
}

export function attachmentUrl(
  c: AppContext,
  { object, mimeType }: { object: string; mimeType: string },
): Promise<string> {
  return objectUrl(c, object, mimeType);
}

/** Null when the token is not genuine, or too old. */
export async function readGrant(secret: string, token: string): Promise<AttachmentGrant | null> {
  const grant = (await readToken(secret, PURPOSE, token)) as AttachmentGrant | null;
  return grant === null || grant.expiresAt < Date.now() ? null : grant;
}
