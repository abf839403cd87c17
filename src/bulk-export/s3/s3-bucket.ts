import { endpointRefusal } from "../../lib/endpoint-address.ts";
import { errorOf, type S3Answer, S3Error } from "./s3-error.ts";
import { objectUrl, type S3Location } from "./s3-address.ts";
import { type S3Credentials, type S3Options, S3Sender } from "./s3-sender.ts";
import { completeUploadXml, readS3Document } from "./s3-xml.ts";

export type { S3Location } from "./s3-address.ts";
export type { S3Credentials, S3Options } from "./s3-sender.ts";

/** Names of metadata are in lower case; names and values are ASCII. */
export type S3ObjectOptions = { contentType?: string; metadata?: Record<string, string> };

const MAX_GET_BYTES = 16 * 1024 * 1024;
const METADATA_PREFIX = "x-amz-meta-";

/**
 * The objects of one bucket on any server that speaks S3. Every method throws an `S3Error` when it fails. Requests
 * are retried when there was no response, or one that asks for a retry. A request may therefore have taken effect
 * although it failed, and more than once.
 */
export class S3Bucket {
  readonly #sender: S3Sender;

  /** Throws an `S3Error` when the location is not allowed, or does not form a valid address. */
  constructor(location: S3Location, credentials: S3Credentials, options: S3Options) {
    const { endpointUrl } = location;
    const refusal = endpointUrl === null ? null : endpointRefusal(endpointUrl, options);
    if (refusal !== null) throw new S3Error("invalid_endpoint", `The endpoint's URL ${refusal}`);
    try {
      objectUrl(location, "key");
    } catch (error) {
      throw new S3Error("invalid_endpoint", error instanceof Error ? error.message : "");
    }
    this.#sender = new S3Sender(location, credentials, options);
  }

  async put(key: string, body: Uint8Array, options: S3ObjectOptions = {}): Promise<void> {
    const headers = objectHeaders(options);
    await this.#sender.send({ method: "PUT", key, headers, body }, etagOf);
  }

  /** Returns an object's size and metadata; null when the key or the bucket does not exist. */
  async head(key: string): Promise<{ bytes: number; metadata: Record<string, string> } | null> {
    return this.#sender.send({ method: "HEAD", key }, (answer) => {
      if (answer.status === 404) return null;
      const { status, headers } = successful(answer);
      const length = headers.get("content-length") ?? "";
      if (!/^\d+$/.test(length)) {
        throw new S3Error("invalid_endpoint", "The answer does not state the object's size", {
          status,
        });
      }
      return { bytes: Number(length), metadata: metadataOf(headers) };
    });
  }

  /** Returns an object of at most 16 MiB; null when the key does not exist. */
  async get(key: string): Promise<Uint8Array | null> {
    return this.#sender.send({ method: "GET", key, maxBytes: MAX_GET_BYTES }, (answer) =>
      isMissingKey(answer) ? null : successful(answer).body,
    );
  }

  /** Deletes an object. Succeeds also when the key does not exist. */
  async delete(key: string): Promise<void> {
    await this.#sender.send({ method: "DELETE", key }, (answer) => {
      if (!isMissingKey(answer)) successful(answer);
    });
  }

  /** Starts a multipart upload, and returns its id. */
  async createMultipart(key: string, options: S3ObjectOptions = {}): Promise<string> {
    return this.#sender.send(
      {
        method: "POST",
        key,
        query: { uploads: "" },
        headers: objectHeaders(options),
        body: new Uint8Array(0),
        // This is not idempotent: each attempt may leave an unknown upload that costs storage until the bucket's
        // own rules remove it. One of them is a small price for not failing a step.
        attempts: 2,
      },
      (answer) => {
        const document = readS3Document(successful(answer).body);
        const id = document?.texts["UploadId"];
        if (id === undefined || id === "") throw notS3(answer, "an upload's id");
        return id;
      },
    );
  }

  /** Uploads a part; parts are numbered from 1. Returns the part's ETag as the server wrote it. */
  async uploadPart(
    key: string,
    uploadId: string,
    partNumber: number,
    body: Uint8Array,
  ): Promise<string> {
    const query = { partNumber: String(partNumber), uploadId };
    return this.#sender.send({ method: "PUT", key, query, body }, etagOf);
  }

  /**
   * Completes an object from its parts, with `etags` in their order. When a response was lost, the retry fails
   * with "no_such_upload" although the object exists: only `head` can tell.
   */
  async completeMultipart(key: string, uploadId: string, etags: readonly string[]): Promise<void> {
    await this.#sender.send(
      {
        method: "POST",
        key,
        query: { uploadId },
        headers: { "content-type": "application/xml" },
        body: completeUploadXml(etags),
      },
      (answer) => {
        const { status } = successful(answer);
        // AWS sends the status before it knows whether the request succeeds.
        const root = readS3Document(answer.body)?.root;
        if (root === "CompleteMultipartUploadResult") return;
        if (root === "Error") throw errorOf(answer);
        throw new S3Error("unavailable", "Answer about a completed upload is cut off", { status });
      },
    );
  }

  /** Aborts an upload. Succeeds also when there is no such upload. Ignores the deadline. */
  async abortMultipart(key: string, uploadId: string): Promise<void> {
    const query = { uploadId };
    await this.#sender.send({ method: "DELETE", key, query, late: true }, (answer) => {
      if (answer.status >= 200 && answer.status < 300) return;
      const error = errorOf(answer);
      if (error.failure !== "no_such_upload") throw error;
    });
  }
}

function successful(answer: S3Answer): S3Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw errorOf(answer);
}

/**
 * Returns the ETag. Every S3 server sends one for a stored object; a web server that accepts anything does not.
 */
function etagOf(answer: S3Answer): string {
  const etag = successful(answer).headers.get("etag");
  if (etag === null) throw notS3(answer, "an ETag");
  return etag;
}

function isMissingKey(answer: S3Answer): boolean {
  if (answer.status !== 404) return false;
  if (answer.body.byteLength === 0) return true;
  return readS3Document(answer.body)?.texts["Code"] === "NoSuchKey";
}

function notS3({ status }: S3Answer, missing: string): S3Error {
  return new S3Error("invalid_endpoint", `HTTP ${status} without ${missing}`, { status });
}

function objectHeaders({ contentType, metadata = {} }: S3ObjectOptions): Record<string, string> {
  return {
    "content-type": contentType ?? "application/octet-stream",
    ...Object.fromEntries(
      Object.entries(metadata).map(([name, value]) => [`${METADATA_PREFIX}${name}`, value]),
    ),
  };
}

function metadataOf(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    [...headers]
      .filter(([name]) => name.startsWith(METADATA_PREFIX))
      .map(([name, value]) => [name.slice(METADATA_PREFIX.length), value]),
  );
}
