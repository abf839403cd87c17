import { endpointRefusal } from "../../lib/endpoint-address.ts";
import { errorOf, type S3Answer, S3Error } from "./s3-error.ts";
import { objectUrl, type S3Location } from "./s3-address.ts";
import { type S3Credentials, type S3Options, S3Sender } from "./s3-sender.ts";
import { completeUploadXml, readS3Document } from "./s3-xml.ts";

export type { S3Location } from "./s3-address.ts";
export type { S3Credentials, S3Options } from "./s3-sender.ts";

/** Metadata's names in lower case; names and values are ASCII. */
export type S3ObjectOptions = { contentType?: string; metadata?: Record<string, string> };

const MAX_GET_BYTES = 16 * 1024 * 1024;
const METADATA_PREFIX = "x-amz-meta-";

/**
 * The objects of one bucket, by any server that speaks S3. Every method throws an `S3Error` when it
 * fails. Requests are tried again inside when no answer came, or one that asks for it; each of them
 * may therefore have happened although it failed, and more than once.
 */
export class S3Bucket {
  readonly #sender: S3Sender;

  /** Throws an `S3Error` when the location may not be reached, or cannot be an address. */
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

  /** Null: no such key, or no such bucket. */
  async head(key: string): Promise<{ bytes: number; metadata: Record<string, string> } | null> {
    return this.#sender.send({ method: "HEAD", key }, (answer) => {
      if (answer.status === 404) return null;
      const { status, headers } = successful(answer);
      const length = headers.get("content-length") ?? "";
      if (!/^\d+$/.test(length)) {
        throw new S3Error("invalid_endpoint", "Answer does not tell the object's size", { status });
      }
      return { bytes: Number(length), metadata: metadataOf(headers) };
    });
  }

  /** Null: no such key. Of 16 MiB at most. */
  async get(key: string): Promise<Uint8Array | null> {
    return this.#sender.send({ method: "GET", key, maxBytes: MAX_GET_BYTES }, (answer) =>
      isMissingKey(answer) ? null : successful(answer).body,
    );
  }

  /** Succeeds, too, when there is no such key. */
  async delete(key: string): Promise<void> {
    await this.#sender.send({ method: "DELETE", key }, (answer) => {
      if (!isMissingKey(answer)) successful(answer);
    });
  }

  /** The upload's id. */
  async createMultipart(key: string, options: S3ObjectOptions = {}): Promise<string> {
    return this.#sender.send(
      {
        method: "POST",
        key,
        query: { uploads: "" },
        headers: objectHeaders(options),
        body: new Uint8Array(0),
        // Not repeatable: each time may leave an upload that nobody knows of, to be paid for until
        // the bucket's own rules remove it. One is a small price for not failing a step.
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

  /** Parts are numbered from 1; the part's ETag, as the server wrote it. */
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
   * Makes an object of the parts, `etags` in their order. When an answer was lost, the repeat fails
   * with "no_such_upload" although the object is there: only `head` tells.
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
        // The status is sent before AWS knows whether it succeeds.
        const root = readS3Document(answer.body)?.root;
        if (root === "CompleteMultipartUploadResult") return;
        if (root === "Error") throw errorOf(answer);
        throw new S3Error("unavailable", "Answer about a completed upload is cut off", { status });
      },
    );
  }

  /** Succeeds, too, when there is no such upload. Does not heed the deadline. */
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

/** Every server of S3 tells it of what it has stored; a web server that takes anything does not. */
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
