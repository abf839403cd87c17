import { concatBytes, MAX_DRAINED_BYTES } from "../../../lib/bytes.ts";
import { ApiError } from "../../../lib/api-error.ts";
import { type BodyEncoding, decompress } from "./decompress.ts";

/** The members of a Request that are needed here. */
export type EncodedBody = {
  headers: Pick<Headers, "get">;
  body: ReadableStream<Uint8Array> | null;
};

/** `maxBytes` limits the decoded body; the compressed body may not be larger either. */
type BodyLimits = { maxBytes: number };

/**
 * Returns the decoded body of a request, in chunks of at most 128 KiB. Throws an ApiError
 * "unsupported_media_type" at once for an unknown Content-Encoding. While it reads, it throws
 * "payload_too_large", without keeping anything if the declared length is too large already, or
 * "bad_request" for broken compressed data and an interrupted upload.
 */
export function readRequestBody(
  request: EncodedBody,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const encoding = encodingOf(request.headers.get("content-encoding"));
  const declared = Number(request.headers.get("content-length") ?? 0);
  return decoded(request.body, encoding, declared, limits);
}

/** Returns the decoded body in one piece, for documents that are parsed whole. */
export async function collectRequestBody(
  request: EncodedBody,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readRequestBody(request, limits)) chunks.push(chunk);
  return concatBytes(chunks);
}

async function* decoded(
  body: ReadableStream<Uint8Array> | null,
  encoding: BodyEncoding | "identity",
  declared: number,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = new BodyReader(body, declared);
  if (declared > limits.maxBytes) {
    await reader.drain();
    throw tooLarge(limits);
  }
  const read = within(limits, () => reader.read());
  try {
    if (encoding === "identity") {
      for (let chunk = await read(); chunk !== undefined; chunk = await read()) yield chunk;
      return;
    }
    let size = 0;
    for await (const chunk of decompress(encoding, read)) {
      size += chunk.byteLength;
      if (size > limits.maxBytes) throw tooLarge(limits);
      yield chunk;
    }
  } finally {
    await reader.drain();
  }
}

function within(
  limits: BodyLimits,
  read: () => Promise<Uint8Array | undefined>,
): () => Promise<Uint8Array | undefined> {
  let size = 0;
  return async () => {
    const chunk = await read();
    size += chunk?.byteLength ?? 0;
    if (size > limits.maxBytes) throw tooLarge(limits);
    return chunk;
  };
}

function encodingOf(header: string | null): BodyEncoding | "identity" {
  const encoding = (header ?? "").trim().toLowerCase();
  switch (encoding) {
    case "":
    case "identity":
      return "identity";
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "zstd":
      return "zstd";
    default:
      throw new ApiError(
        "unsupported_media_type",
        `Content-Encoding "${encoding}" is not supported; send identity, gzip or zstd`,
      );
  }
}

function tooLarge({ maxBytes }: BodyLimits): ApiError {
  return new ApiError("payload_too_large", `Request body is larger than ${maxBytes} bytes`);
}

/** The runtime's own chunks are 4 KiB; larger reads need a tenth as many turns of the event loop. */
const READ_BYTES = 64 * 1024;

/** Maximum milliseconds for which the rest of a refused request's body is read, so that a slow client sees the response. */
const MAX_DRAINING_MS = 60_000;

type ByteReader = {
  read: () => Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel: () => Promise<void>;
};

/** Reads a request's body in large chunks, none of which is written to again. */
class BodyReader {
  readonly #reader: ByteReader;

  /** `declared` is the body's length if it is known, otherwise 0. */
  constructor(body: ReadableStream<Uint8Array>, declared: number) {
    this.#reader = openReader(body, declared > 0 ? Math.min(declared, READ_BYTES) : READ_BYTES);
  }

  /** Returns the next chunk, which is never empty; undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const { done, value } = await this.#next();
      if (value !== undefined && value.byteLength > 0) return value;
      if (done) return undefined;
    }
  }

  /**
   * Reads and discards the rest of the body. A client that is cut off while it sends sees a broken
   * connection instead of the response.
   */
  async drain(): Promise<void> {
    const cancel = () => this.#reader.cancel().catch(() => undefined);
    const timer = setTimeout(() => void cancel(), MAX_DRAINING_MS);
    try {
      for (let left = MAX_DRAINED_BYTES; left > 0;) {
        const chunk = await this.read();
        if (chunk === undefined) return;
        left -= chunk.byteLength;
      }
      await cancel();
    } catch {
      // The body is broken, so there is nothing left to drain, and the caller has its error already.
    } finally {
      clearTimeout(timer);
    }
  }

  async #next(): Promise<{ done: boolean; value?: Uint8Array | undefined }> {
    try {
      return await this.#reader.read();
    } catch (cause) {
      throw new ApiError("bad_request", "Request body could not be read to its end", { cause });
    }
  }
}

function openReader(body: ReadableStream<Uint8Array>, size: number): ByteReader {
  const bytes = byteStreamReader(body);
  if (bytes === null) {
    const reader = body.getReader();
    return { read: () => reader.read(), cancel: () => reader.cancel() };
  }
  return { read: () => bytes.read(new Uint8Array(size)), cancel: () => bytes.cancel() };
}

/** Returns null for a stream that JavaScript code made of chunks: it cannot read into buffers. */
function byteStreamReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}
