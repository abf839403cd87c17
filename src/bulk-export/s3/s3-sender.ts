import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { readLimited } from "../../lib/bytes.ts";
import { withTimeout } from "../../lib/with-timeout.ts";
import { type S3Answer, S3Error } from "./s3-error.ts";
import { objectUrl, type S3Location } from "./s3-address.ts";

export type S3Credentials = {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
};

export type S3Options = {
  /** Time-out of one request in milliseconds, from its first byte to the last byte of the response. */
  requestTimeoutMs: number;
  /** How many times a request is sent before its failure is reported. */
  attempts: number;
  /** Whether the endpoint may have a private address, or no TLS. */
  allowPrivate: boolean;
  /**
   * Returns the time in epoch milliseconds by which all requests must have ended, such as the end of a lease.
   * Time-outs are shortened to it, and nothing is sent after it.
   */
  deadline?: () => number;
};

export type S3Request = {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** A limit below that of the options. */
  attempts?: number;
  /** Maximum size of the response; a larger one is a failure. */
  maxBytes?: number;
  /**
   * Whether the request may be sent after the deadline, because it cannot disturb another holder of the object.
   */
  late?: boolean;
};

const MAX_ANSWER_BYTES = 256 * 1024;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5000;
const EMPTY = new Uint8Array(0);

/** Signs and sends requests for the objects of one bucket. */
export class S3Sender {
  readonly #location: S3Location;
  readonly #credentials: S3Credentials;
  readonly #options: S3Options;
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(location: S3Location, credentials: S3Credentials, options: S3Options) {
    this.#location = location;
    this.#credentials = credentials;
    this.#options = options;
  }

  /**
   * Sends a request, with retries, and returns what `read` makes of the response. `read` receives every response
   * and throws an `S3Error` for failures.
   */
  async send<T>(request: S3Request, read: (answer: S3Answer) => T): Promise<T> {
    const attempts = Math.min(request.attempts ?? Infinity, this.#options.attempts);
    const digests = digestsOf(request);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return read(await this.#sendOnce(request, digests));
      } catch (error) {
        const failed = this.#withoutSecrets(error);
        const pause = pauseMs(attempt);
        const isLast = attempt >= attempts || Date.now() + pause >= this.#deadlineOf(request);
        if (!(failed instanceof S3Error) || failed.failure !== "unavailable" || isLast) {
          throw failed;
        }
        await new Promise((resolve) => void setTimeout(resolve, pause));
      }
    }
  }

  async #sendOnce(request: S3Request, digests: Record<string, string>): Promise<S3Answer> {
    const timeoutMs = Math.min(
      this.#options.requestTimeoutMs,
      this.#deadlineOf(request) - Date.now(),
    );
    if (timeoutMs <= 0) throw new S3Error("unavailable", "No time is left for a request");
    const { url, headers } = await this.#sign(request, digests);
    const abort = new AbortController();
    const { method, body, maxBytes = MAX_ANSWER_BYTES } = request;
    const init: RequestInit = { method, headers, redirect: "manual", signal: abort.signal };
    // The body is not in shared memory, which `fetch` would refuse.
    if (body !== undefined) init.body = body as Uint8Array<ArrayBuffer>;
    return withTimeout(timeoutMs, exchange(url, init, maxBytes), () => {
      abort.abort();
      throw new S3Error("unavailable", `No complete answer within ${timeoutMs} ms`);
    });
  }

  async #sign(request: S3Request, digests: Record<string, string>) {
    const { region } = this.#location;
    const { accessKeyId, secretAccessKey, sessionToken } = this.#credentials;
    const url = new URL(objectUrl(this.#location, request.key));
    for (const [name, value] of Object.entries(request.query ?? {})) {
      url.searchParams.set(name, value);
    }
    const signed = await new AwsV4Signer({
      method: request.method,
      url: url.href,
      headers: { ...request.headers, ...digests },
      accessKeyId,
      secretAccessKey,
      service: "s3",
      cache: this.#signingKeys,
      // Without a region the signer takes it from the host name, if the host has it there.
      ...(region === null ? {} : { region }),
      ...(sessionToken === null ? {} : { sessionToken }),
    }).sign();
    // This header is not signed, because proxies change it. A compressed response would not tell the object's size.
    signed.headers.set("accept-encoding", "identity");
    return signed;
  }

  #deadlineOf({ late = false }: S3Request): number {
    return late ? Infinity : (this.#options.deadline?.() ?? Infinity);
  }

  /** Removes secrets from an error's message: some servers repeat what they were sent. */
  #withoutSecrets(error: unknown): unknown {
    if (!(error instanceof S3Error)) return error;
    const { secretAccessKey, sessionToken } = this.#credentials;
    const secrets = [secretAccessKey, sessionToken].filter((secret) => secret !== null);
    if (!secrets.some((secret) => error.message.includes(secret))) return error;
    const message = secrets.reduce(
      (text, secret) => text.replaceAll(secret, "[secret]"),
      error.message,
    );
    const { failure, status, code } = error;
    return new S3Error(failure, message, { code, ...(status === null ? {} : { status }) });
  }
}

async function exchange(url: URL, init: RequestInit, maxBytes: number): Promise<S3Answer> {
  try {
    const response = await fetch(url, init);
    const { status, headers } = response;
    const body = await readLimited(response.body, maxBytes);
    if (body !== null) return { status, headers, body };
    throw new S3Error("invalid_endpoint", `Answer is larger than ${maxBytes} bytes`, { status });
  } catch (error) {
    if (error instanceof S3Error) throw error;
    throw new S3Error("unavailable", `Connection failed: ${reasonOf(error)}`);
  }
}

/** Returns the digest headers. Buckets with object lock accept no object without an MD5. */
function digestsOf({ method, body = EMPTY }: S3Request): Record<string, string> {
  const sha256 = createHash("sha256").update(body).digest("hex");
  if (method !== "PUT") return { "x-amz-content-sha256": sha256 };
  const md5 = createHash("md5").update(body).digest("base64");
  return { "x-amz-content-sha256": sha256, "content-md5": md5 };
}

function pauseMs(attempt: number): number {
  return Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS);
}

/** Returns the reason for a failed connection, which Node.js has in the error's cause. */
function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  const { message } = cause instanceof Error && cause.message !== "" ? cause : asError(error);
  return message.slice(0, 200);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
