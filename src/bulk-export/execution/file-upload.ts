import type { S3Bucket } from "../s3/s3-bucket.ts";
import { S3Error } from "../s3/s3-error.ts";
import { StepError } from "./step-failure.ts";
import { clearOpenUpload, type ExportRunRow } from "../../db/export-runs-repo.ts";
import { selectBulkExport } from "../../db/bulk-exports-repo.ts";
import { currentCredentials, openBucket } from "../destinations/open-bucket.ts";
import { parseOpenUpload } from "./run-progress.ts";

const CONTENT_TYPE = "application/vnd.apache.parquet";

/** The object's metadata that tells which step wrote it. */
const STEP = "step";

/**
 * One object, written part by part: a single request while it is one part, a multipart upload from the
 * second one on. It appears in the bucket as a whole, when `finish` is done.
 */
export class FileUpload {
  readonly #bucket: S3Bucket;
  readonly #key: string;
  readonly #step: string;
  /** Called with the id of a multipart upload before anything is sent to it. */
  readonly #onOpened: (uploadId: string) => Promise<void>;
  readonly #etags: string[] = [];
  #uploadId: string | null = null;
  /** Not sent yet: it may turn out to be the only part. */
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

  /** Takes the next part; all but the last must have the same size. */
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

  /** Throws a `StepError` when the bucket tells another size than what was sent. */
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

  /** Best effort: an upload that stays open costs storage until the bucket's own rules end it. */
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
      // Its answer may have got lost; servers then say different things when the request is repeated.
      if (await isStored(this.#bucket, this.#key, { step: this.#step, bytes: this.#bytes })) return;
      throw error;
    }
  }

  #headers() {
    return { contentType: CONTENT_TYPE, metadata: { [STEP]: this.#step } };
  }
}

/** Whether the bucket has what a step has written, as a whole. False when that may not be asked. */
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

/** Reading is a permission that a destination need not give. */
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
 * Aborts the multipart upload of a run that was ended from outside while a step was at work, or that a
 * step left when it died. It is tried once: where it fails, the bucket's own rules have to end it.
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
  // Those that the run began with may be gone by now.
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
