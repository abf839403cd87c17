import type { S3Bucket } from "../s3/s3-bucket.ts";
import { S3Error } from "../s3/s3-error.ts";
import { StepError } from "./step-failure.ts";
import { clearOpenUpload, type ExportRunRow } from "../../db/export-runs-repo.ts";
import { selectBulkExport } from "../../db/bulk-exports-repo.ts";
import { currentCredentials, openBucket } from "../destinations/open-bucket.ts";
import { parseOpenUpload } from "./run-progress.ts";

const CONTENT_TYPE = "application/vnd.apache.parquet";

/** The object's metadata key for the step that wrote it. */
const STEP = "step";

/**
 * Writes one object part by part: in a single request if it has one part, otherwise in a multipart upload. The
 * object appears in the bucket as a whole when `finish` succeeds.
 */
export class FileUpload {
  readonly #bucket: S3Bucket;
  readonly #key: string;
  readonly #step: string;
  /** Called with the id of a multipart upload before anything is sent to it. */
  readonly #onOpened: (uploadId: string) => Promise<void>;
  readonly #etags: string[] = [];
  #uploadId: string | null = null;
  /** The latest part, which is not sent yet because it may turn out to be the only one. */
  #held: Uint8Array | null = null;
  #bytes = 0;

  constructor(
    bucket: S3Bucket,
    object: { key: string; step: string },
    onOpened: (uploadId: string) => Promise<void>,
  ) {
    this.#bucket = bucket;
    this.#key = object.key;
    this.#step = object.step;
    this.#onOpened = onOpened;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the next part. All parts but the last must have the same size. */
  async write(part: Uint8Array): Promise<void> {
    const held = this.#held;
    this.#held = part;
    this.#bytes += part.byteLength;
    if (held === null) return;
    if (this.#uploadId === null) {
      const uploadId = await this.#bucket.createMultipart(this.#key, this.#headers());
      await this.#onOpened(uploadId);
      this.#uploadId = uploadId;
    }
    await this.#send(this.#uploadId, held);
  }

  /** Completes the object. Throws a `StepError` when the bucket reports another size than was sent. */
  async finish(): Promise<void> {
    const last = this.#held ?? new Uint8Array();
    this.#held = null;
    if (this.#uploadId === null) {
      await this.#bucket.put(this.#key, last, this.#headers());
    } else {
      await this.#send(this.#uploadId, last);
      await this.#complete(this.#uploadId);
    }
    const stored = await storedObject(this.#bucket, this.#key);
    if (stored === "unknown") return;
    if (stored?.bytes === this.#bytes) return;
    throw new StepError(
      `${this.#key} has ${stored?.bytes ?? "no"} bytes in the bucket, but ${this.#bytes} were sent`,
    );
  }

  /** Aborts the upload if possible. One that stays open costs storage until the bucket's own rules end it. */
  async abort(): Promise<void> {
    this.#held = null;
    if (this.#uploadId !== null) await abortUpload(this.#bucket, this.#key, this.#uploadId);
  }

  async #send(uploadId: string, part: Uint8Array): Promise<void> {
    const number = this.#etags.length + 1;
    this.#etags.push(await this.#bucket.uploadPart(this.#key, uploadId, number, part));
  }

  async #complete(uploadId: string): Promise<void> {
    try {
      await this.#bucket.completeMultipart(this.#key, uploadId, this.#etags);
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      // The response may have been lost, and servers differ in how they answer a repeated completion.
      if (await isStored(this.#bucket, this.#key, { step: this.#step, bytes: this.#bytes })) return;
      throw error;
    }
  }

  #headers() {
    return { contentType: CONTENT_TYPE, metadata: { [STEP]: this.#step } };
  }
}

/**
 * Whether the bucket has the complete object that a step wrote. False when the bucket does not permit reading it.
 */
export async function isStored(
  bucket: S3Bucket,
  key: string,
  expected: { step: string; bytes: number },
): Promise<boolean> {
  const stored = await storedObject(bucket, key);
  if (stored === "unknown" || stored === null) return false;
  return stored.bytes === expected.bytes && stored.metadata[STEP] === expected.step;
}

export async function abortUpload(bucket: S3Bucket, key: string, uploadId: string): Promise<void> {
  try {
    await bucket.abortMultipart(key, uploadId);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
  }
}

/**
 * Reads an object's size and metadata; "unknown" when reading is not permitted, which destinations need not allow.
 */
async function storedObject(
  bucket: S3Bucket,
  key: string,
): Promise<Awaited<ReturnType<S3Bucket["head"]>> | "unknown"> {
  try {
    return await bucket.head(key);
  } catch (error) {
    if (error instanceof S3Error && error.failure === "access_denied") return "unknown";
    throw error;
  }
}

/**
 * Aborts the multipart upload of a run that was ended during a step, or that a crashed step has left open. This is
 * tried once; if it fails, the bucket's own rules have to end the upload.
 */
export async function abortLeftUpload(env: Env, run: ExportRunRow): Promise<void> {
  try {
    await abortUploadOf(env, run);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
  }
  await clearOpenUpload(env.DB, run);
}

async function abortUploadOf(env: Env, run: ExportRunRow): Promise<void> {
  const { workspace_id: workspaceId, open_upload } = run;
  const bulkExport = await selectBulkExport(env.DB, workspaceId, run.export_id);
  if (bulkExport === undefined || open_upload === null) return;
  const { destination_id: destinationId } = bulkExport;
  // The run's own credentials may have been deleted, so the current ones are used.
  const current = await currentCredentials(env.DB, workspaceId, destinationId);
  if (current === null) return;
  const opened = await openBucket(env, {
    workspaceId,
    destinationId,
    credentialsVersion: current.version,
  });
  const { key, upload_id } = parseOpenUpload(open_upload);
  if (opened !== null) await abortUpload(opened.bucket, key, upload_id);
}
