import { z } from "@hono/zod-openapi";
import { openSecret, sealSecret } from "../../secrets/secret-box.ts";
import type { S3Credentials } from "../s3/s3-bucket.ts";

/** These two are sent in headers. */
const HEADER_VALUE = /^[\u0021-\u007e]+$/;
const HEADER_VALUE_MESSAGE = "String should be printable ASCII without blanks";

export const credentialsSchema = z
  .strictObject({
    access_key_id: z.string().min(1).max(255).regex(HEADER_VALUE, HEADER_VALUE_MESSAGE),
    secret_access_key: z.string().min(1).max(2048),
    session_token: z.string().min(1).max(2048).regex(HEADER_VALUE, HEADER_VALUE_MESSAGE).nullish(),
  })
  .openapi("BulkExportDestinationCredentials");

export type CredentialsBody = z.infer<typeof credentialsSchema>;

/** Which version of which destination's credentials something is. */
export type CredentialsKey = { workspaceId: string; destinationId: string; version: number };

export function toS3Credentials(body: CredentialsBody): S3Credentials {
  const { access_key_id, secret_access_key, session_token } = body;
  return {
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    sessionToken: session_token ?? null,
  };
}

/** The members that are given, by their names in the API. */
export function credentialNames(body: CredentialsBody): string[] {
  return Object.entries(body).flatMap(([name, value]) => (value == null ? [] : [name]));
}

export function sealCredentials(
  encryptionKeys: string,
  body: CredentialsBody,
  key: CredentialsKey,
): Promise<string> {
  return sealSecret(encryptionKeys, JSON.stringify(body), contextOf(key));
}

export async function openCredentials(
  encryptionKeys: string,
  sealed: string,
  key: CredentialsKey,
): Promise<S3Credentials> {
  const text = await openSecret(encryptionKeys, sealed, contextOf(key));
  return toS3Credentials(credentialsSchema.parse(JSON.parse(text)));
}

/** The same under the key that encrypts now. */
export async function resealedCredentials(
  encryptionKeys: string,
  sealed: string,
  key: CredentialsKey,
): Promise<string> {
  const context = contextOf(key);
  return sealSecret(encryptionKeys, await openSecret(encryptionKeys, sealed, context), context);
}

function contextOf({ workspaceId, destinationId, version }: CredentialsKey): string {
  return `bulk-export-credentials/${workspaceId}/${destinationId}/${version}`;
}
