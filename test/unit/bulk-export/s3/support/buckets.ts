import {
  S3Bucket,
  type S3Location,
  type S3Options,
} from "../../../../../src/bulk-export/s3/s3-bucket.ts";
import { S3Error } from "../../../../../src/bulk-export/s3/s3-error.ts";

export const CREDENTIALS = {
  accessKeyId: "key-id",
  secretAccessKey: "the-secret-key",
  sessionToken: null,
};

const OPTIONS: S3Options = { requestTimeoutMs: 60_000, attempts: 3, allowPrivate: true };

export function bucketAt(
  endpointUrl: string,
  change: Partial<S3Location> = {},
  options: Partial<S3Options> = {},
): S3Bucket {
  const location = { bucket: "exports", region: null, endpointUrl, bucketInHost: false, ...change };
  return new S3Bucket(location, CREDENTIALS, { ...OPTIONS, ...options });
}

/** Returns the error of a failing request. */
export async function failureOf(request: Promise<unknown>): Promise<S3Error> {
  try {
    await request;
  } catch (error) {
    if (error instanceof S3Error) return error;
    throw error;
  }
  throw new Error("The request succeeded");
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
