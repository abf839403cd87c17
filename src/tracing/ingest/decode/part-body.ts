import type { ByteWindow, Delimiter } from "./delimiter.ts";
import { invalidPart, type PartHead } from "./part-head.ts";

/** The error of a part that is larger than its reader can hold; the parts after it can still be read. */
export class PartTooLarge extends Error {
  override readonly name = "PartTooLarge";
}

/**
 * One part of a multipart body. Its content is read once, with `bytes` or as a stream; content that is not
 * read before the next part is requested is skipped. Both throw an ApiError "bad_request" if no boundary
 * follows the content.
 */
export class BodyPart {
  readonly name: string;
  /** "" if the part does not declare it. */
  readonly contentType: string;
  /** In bytes; null if the part does not declare it, and the content ends at the boundary. */
  readonly length: number | null;
  readonly #window: ByteWindow;
  readonly #delimiter: Delimiter;
  /** The number of unconsumed bytes of the content; null until its end is found. */
  #remaining: number | null;
  /** The length of the boundary at the end, if the end was found by searching for it. */
  #foundBoundary: number | null = null;
  #isDone = false;
  #isSkipped = false;

  constructor(head: PartHead, window: ByteWindow, delimiter: Delimiter) {
    this.name = head.name;
    this.contentType = head.contentType;
    this.length = head.length;
    this.#remaining = head.length;
    this.#window = window;
    this.#delimiter = delimiter;
  }

  /** Whether the content and the boundary after it have been consumed. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * Returns all of the content, without a promise if it has already arrived. Throws PartTooLarge. The bytes
   * are a view of a larger buffer.
   */
  bytes(maxBytes: number): Uint8Array | Promise<Uint8Array> {
    this.#locateEnd();
    const size = this.#remaining;
    if (size !== null && size > maxBytes) throw this.#tooLarge(maxBytes);
    if (size !== null && size <= this.#window.length) {
      const boundary = this.#boundaryAt(size);
      if (boundary !== undefined) {
        const content = this.#window.take(size);
        this.#finish(boundary);
        return content;
      }
    }
    return this.#collect(maxBytes);
  }

  /** Streams the content as it arrives; nothing is read ahead of the stream's reader. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const slice = await this.#slice();
          if (slice === null) controller.close();
          else controller.enqueue(slice);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Skips the rest of the content. Returns false if that has to wait for more input. */
  skipNow(): boolean {
    while (!this.#isDone) {
      this.#isSkipped = true;
      if (this.#sliceNow() === undefined) return false;
    }
    return true;
  }

  /** Returns the next bytes of the content; null at its end. */
  async #slice(): Promise<Uint8Array | null> {
    for (;;) {
      // Otherwise a late reader would take the bytes that it got for the whole content.
      if (this.#isSkipped) throw new Error(`part "${this.name}" was skipped before it was read`);
      const slice = this.#sliceNow();
      if (slice !== undefined) return slice;
      if (!(await this.#window.fill())) throw this.#truncated();
    }
  }

  /** Like `#slice`, but returns undefined if it has to wait for more input. */
  #sliceNow(): Uint8Array | null | undefined {
    if (this.#isDone) return null;
    if (this.#remaining === null) {
      const clear = this.#locateEnd();
      if (clear === 0) return undefined;
      if (clear !== null) return this.#window.take(clear);
    }
    if (this.#remaining !== null && this.#remaining > 0) {
      const count = Math.min(this.#remaining, this.#window.length);
      if (count === 0) return undefined;
      this.#remaining -= count;
      return this.#window.take(count);
    }
    const boundary = this.#boundaryAt(0);
    if (boundary === undefined) return undefined;
    this.#finish(boundary);
    return null;
  }

  async #collect(maxBytes: number): Promise<Uint8Array> {
    const whole = this.#remaining === null ? null : new Uint8Array(this.#remaining);
    const slices: Uint8Array[] = [];
    let size = 0;
    for (let slice = await this.#slice(); slice !== null; slice = await this.#slice()) {
      if (size + slice.byteLength > maxBytes) throw this.#tooLarge(maxBytes);
      if (whole === null) slices.push(slice);
      else whole.set(slice, size);
      size += slice.byteLength;
    }
    if (whole !== null) return whole;
    const [only] = slices;
    return slices.length === 1 && only !== undefined ? only : Buffer.concat(slices, size);
  }

  /** Returns null if the end is known; otherwise how many bytes are certainly before it. */
  #locateEnd(): number | null {
    if (this.#remaining !== null) return null;
    const found = this.#delimiter.find(this.#window);
    if ("clear" in found) return found.clear;
    this.#remaining = found.end;
    this.#foundBoundary = found.length;
    return null;
  }

  /** Returns the length of the boundary that must be at `offset`; undefined if it has not arrived yet. */
  #boundaryAt(offset: number): number | undefined {
    if (this.#foundBoundary !== null) return this.#foundBoundary;
    const length = this.#delimiter.matchAt(this.#window, offset);
    if (length === false) {
      throw invalidPart(this.name, `its length is ${this.length}, but no boundary follows there`);
    }
    return length;
  }

  #finish(boundary: number): void {
    this.#window.take(boundary);
    this.#isDone = true;
  }

  #tooLarge(maxBytes: number): PartTooLarge {
    return new PartTooLarge(`larger than ${maxBytes} bytes`);
  }

  #truncated(): Error {
    return invalidPart(this.name, "the request body ends before the boundary that follows it");
  }
}
