import type { S3Failure } from "../s3/s3-error.ts";

/** How a storage's own words are summed up for the user: one of four texts, which clients know. */
export const FAILURE_SUMMARY: Record<S3Failure, string> = {
  access_denied: "Access denied",
  clock_skew: "Access denied",
  unknown_key_id: "Key ID you provided does not exist",
  invalid_bucket: "Bucket is not valid",
  no_such_upload: "Bucket is not valid",
  invalid_endpoint: "Invalid endpoint",
  unavailable: "Invalid endpoint",
};
