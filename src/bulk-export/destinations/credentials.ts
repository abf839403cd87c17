import {
  listCredentialsByKey,
  resealExportCredentials,
} from "../../db/export-destinations-repo.ts";
import { keyRotation } from "../../secrets/key-rotation.ts";
import { keyVersions, openSecret, resealSecret, sealSecret } from "../../secrets/secret-box.ts";
import type { S3Credentials } from "../s3/s3-bucket.ts";
import { type CredentialsBody, credentialsSchema } from "./schemas.ts";

/** Identifies a version of a destination's credentials. */
export type CredentialsKey = { workspaceId: string; destinationId: string; version: number };

export function toS3Credentials(body: CredentialsBody): S3Credentials {
  const { access_key_id, secret_access_key, session_token } = body;
  return {
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    sessionToken: session_token ?? null,
  };
}

/** Returns the names, as in the API, of the members that are given. */
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

/** Registers the credentials of destinations for the rotation of ENCRYPTION_KEYS. */
export const destinationCredentials = keyRotation({
  kind: "export_credentials",
  rows: 100,
  list: listCredentialsByKey,
  reseal: async (db, keys, row) => {
    const { workspace_id: workspaceId, destination_id: destinationId, version } = row;
    const context = contextOf({ workspaceId, destinationId, version });
    const sealed = await resealSecret(keys, row.sealed, context);
    return resealExportCredentials(db, row, { sealed, keyVersion: keyVersions(keys)[0] });
  },
  idsOf: ({ workspace_id, destination_id }) => ({ workspace_id, destination_id }),
});

function contextOf({ workspaceId, destinationId, version }: CredentialsKey): string {
  return `bulk-export-credentials/${workspaceId}/${destinationId}/${version}`;
}
