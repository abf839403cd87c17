import {
  type ExportDestinationRow,
  selectExportCredentials,
  selectExportDestination,
} from "../../db/export-destinations-repo.ts";
import { parseSettings, type Settings } from "../../env.ts";
import { S3Bucket, type S3Credentials, type S3Location } from "../s3/s3-bucket.ts";
import { S3Error } from "../s3/s3-error.ts";
import { openCredentials } from "./credentials.ts";

export type OpenBucket = {
  bucket: S3Bucket;
  /** The prefix of all keys, without leading or trailing slashes; it may be empty. */
  prefix: string;
};

/**
 * Opens the bucket of a destination with one version of its credentials; null stands for the installation's own.
 * Returns null when the destination is deleted. Throws a `SecretBoxError` when ENCRYPTION_KEYS does not open the
 * credentials, and an `S3Error` when there are none or the endpoint is not allowed.
 */
export async function openBucket(
  env: Env,
  of: {
    workspaceId: string;
    destinationId: string;
    credentialsVersion: number | null;
    /** Returns the time in epoch milliseconds by which all requests must have ended. */
    deadline?: () => number;
  },
): Promise<OpenBucket | null> {
  const settings = parseSettings(env);
  const { workspaceId, destinationId, credentialsVersion: version } = of;
  const row = await selectExportDestination(env.DB, workspaceId, destinationId);
  if (row === undefined) return null;
  const credentials =
    version === null
      ? installationCredentials(settings)
      : await storedCredentials(env, { workspaceId, destinationId, version });
  if (credentials === null) {
    throw new S3Error("access_denied", "The credentials do not exist any more");
  }
  const { request_timeout_seconds, request_attempts } = settings.exportLimits;
  const options = {
    requestTimeoutMs: request_timeout_seconds * 1000,
    attempts: request_attempts,
    allowPrivate: settings.privateEndpoints,
    ...(of.deadline === undefined ? {} : { deadline: of.deadline }),
  };
  return { bucket: new S3Bucket(locationOf(row), credentials, options), prefix: row.prefix };
}

/** Returns the version of the credentials that new attempts use; null when the destination is deleted. */
export async function currentCredentials(
  db: D1Database,
  workspaceId: string,
  destinationId: string,
): Promise<{ version: number | null } | null> {
  const row = await selectExportDestination(db, workspaceId, destinationId);
  return row === undefined ? null : { version: row.credentials_version };
}

export function locationOf(
  row: Pick<
    ExportDestinationRow,
    "bucket_name" | "region" | "endpoint_url" | "include_bucket_in_prefix"
  >,
): S3Location {
  return {
    bucket: row.bucket_name,
    region: row.region,
    endpointUrl: row.endpoint_url,
    bucketInHost: row.endpoint_url !== null && !row.include_bucket_in_prefix,
  };
}

/** Returns the installation's credentials; null when destinations must have their own. */
export function installationCredentials(settings: Settings): S3Credentials | null {
  return settings.selfHosted ? settings.installationCredentials : null;
}

async function storedCredentials(
  env: Env,
  key: { workspaceId: string; destinationId: string; version: number },
): Promise<S3Credentials | null> {
  const row = await selectExportCredentials(env.DB, key);
  if (row === undefined) return null;
  return openCredentials(parseSettings(env).encryptionKeys, row.sealed, key);
}
