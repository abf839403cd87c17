import type { S3Bucket } from "../s3/s3-bucket.ts";
import { S3Error, type S3Failure } from "../s3/s3-error.ts";

/** The summaries of a storage's own messages that are shown to the user: one of four texts, which clients know. */
export const FAILURE_SUMMARY: Record<S3Failure, string> = {
  access_denied: "Access denied",
  clock_skew: "Access denied",
  unknown_key_id: "Key ID you provided does not exist",
  invalid_bucket: "Bucket is not valid",
  no_such_upload: "Bucket is not valid",
  invalid_endpoint: "Invalid endpoint",
  unavailable: "Invalid endpoint",
};

/**
 * Writes a small file under `<prefix>/tmp/`, which the bucket's owner can see, reads it back and deletes it.
 * Credentials that may only write are accepted, and then the file stays. Returns null on success, otherwise a
 * description of the problem.
 */
export async function checkDestination(bucket: S3Bucket, prefix: string): Promise<string | null> {
  const id = crypto.randomUUID();
  const key = `${prefix === "" ? "" : `${prefix}/`}tmp/${id}.txt`;
  const content = new TextEncoder().encode(`A test of write access: ${id}\n`);
  try {
    await bucket.put(key, content, { contentType: "text/plain" });
    await checkContent(bucket, key, content);
    await deleteIfPermitted(bucket, key);
    return null;
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    return `${error.message.replace(/\.$/, "")}: ${FAILURE_SUMMARY[error.failure]}`;
  }
}

async function checkContent(bucket: S3Bucket, key: string, content: Uint8Array): Promise<void> {
  const stored = await getIfPermitted(bucket, key);
  if (stored === "not_permitted") return;
  if (stored !== null && Buffer.compare(stored, content) === 0) return;
  const what = stored === null ? "is not there" : "has another content";
  throw new S3Error("invalid_endpoint", `The test file that was written ${what}`);
}

async function getIfPermitted(
  bucket: S3Bucket,
  key: string,
): Promise<Uint8Array | null | "not_permitted"> {
  try {
    return await bucket.get(key);
  } catch (error) {
    if (error instanceof S3Error && error.failure === "access_denied") return "not_permitted";
    throw error;
  }
}

async function deleteIfPermitted(bucket: S3Bucket, key: string): Promise<void> {
  try {
    await bucket.delete(key);
  } catch (error) {
    // Exports delete nothing, so a failed deletion does not affect them.
    if (!(error instanceof S3Error)) throw error;
  }
}
