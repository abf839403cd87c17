import { ApiError } from "../../../lib/api-error.ts";

/** The runtime's own chunks are 4 KiB; larger reads cost a tenth of the turns. */
const READ_BYTES = 64 * 1024;

const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const MAX_DRAINING_MS = 5000;

type ByteReader = {
  read: () => Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel: () => Promise<void>;
};

/** Reads a request's body in large chunks, none of which is ever written to again. */
export class BodyReader {
  readonly #reader: ByteReader;

  /** `declared` is the body's length where it is known, else 0. */
  constructor(body: ReadableStream<Uint8Array>, declared: number) {
    this.#reader = openReader(body, declared > 0 ? Math.min(declared, READ_BYTES) : READ_BYTES);
  }

  /** The next chunk, never empty; undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const { done, value } = await this.#next();
      if (value !== undefined && value.byteLength > 0) return value;
      if (done) return undefined;
    }
  }

  /**
   * Takes what is still to come, and forgets it. A client that is cut off while it sends sees a
   * broken connection, and no answer.
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
      // The body is broken already, and nobody is left to be told.
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

/** Null for a stream that somebody made of chunks: it does not read into buffers. */
function byteStreamReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}
