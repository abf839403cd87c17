/** Texts up to this length are copied by a loop, which is faster than a view. */
const SHORT_BYTES = 40;
const LENGTH_BYTES = 4;

/** Maximum size of a buffer that is kept for the next page. */
const KEPT_BYTES = 2 * 1024 * 1024;

/** A buffer of texts in PLAIN encoding: each text is preceded by its length. */
export class PageBuffer {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #used = 0;

  get used(): number {
    return this.#used;
  }

  /** Adds the bytes of `source` from `start` up to, but not including, `end`. */
  add(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.reserve(LENGTH_BYTES + length);
    this.#view.setUint32(this.#used, length, true);
    const at = this.#used + LENGTH_BYTES;
    if (length > SHORT_BYTES) {
      this.#bytes.set(source.subarray(start, end), at);
    } else {
      const bytes = this.#bytes;
      for (let index = 0; index < length; index += 1)
        bytes[at + index] = source[start + index] ?? 0;
    }
    this.#used = at + length;
  }

  /** Adds a text from a stream, without holding another copy of it. `size` is the expected length. */
  async addStream(stream: ReadableStream<Uint8Array>, size: number): Promise<void> {
    this.reserve(LENGTH_BYTES + size);
    const lengthAt = this.#used;
    this.#used += LENGTH_BYTES;
    for await (const piece of stream) {
      this.reserve(piece.length);
      this.#bytes.set(piece, this.#used);
      this.#used += piece.length;
    }
    this.#view.setUint32(lengthAt, this.#used - lengthAt - LENGTH_BYTES, true);
  }

  /** Makes room for `length` more bytes. */
  reserve(length: number): void {
    const needed = this.#used + length;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(
      Math.max(needed, Math.min(this.#bytes.length * 2, needed + MAX_SPARE)),
    );
    larger.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }

  /** Returns the added bytes. They are overwritten by additions after `clear`. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }

  clear(): void {
    this.#used = 0;
    if (this.#bytes.length <= KEPT_BYTES) return;
    this.#bytes = new Uint8Array(1024);
    this.#view = new DataView(this.#bytes.buffer);
  }
}

/** Limits the spare room, because a large text is seldom followed by another one in its page. */
const MAX_SPARE = 1024 * 1024;
