import { readToken, signToken } from "../../secrets/signed-token.ts";

const PURPOSE = "attachment";
const LIFETIME_MS = 3_600_000;

const ATTACHMENTS_PATH = "/api/v1/attachments";

/** `requestUrl` is any URL of the host that the links lead to. */
export type LinkSettings = { signingSecret: string; requestUrl: string };

/** What a URL gives access to, without a key, until it expires. */
type AttachmentGrant = { object: string; mimeType: string };

/** An absolute URL of an attachment, or of a payload that is kept in R2. */
export async function objectUrl(
  { signingSecret, requestUrl }: LinkSettings,
  { object, mimeType }: { object: string; mimeType: string },
): Promise<string> {
  const grant: AttachmentGrant = { object, mimeType };
  const token = await signToken(signingSecret, PURPOSE, grant, LIFETIME_MS);
  return new URL(`${ATTACHMENTS_PATH}/${token}`, requestUrl).href;
}

/** Null when the token is not genuine, or too old. */
export function readGrant(secret: string, token: string): Promise<AttachmentGrant | null> {
  return readToken<AttachmentGrant>(secret, PURPOSE, token);
}
