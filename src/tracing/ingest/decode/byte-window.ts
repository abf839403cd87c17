/**
 * The bytes of a stream of chunks that are not consumed yet, contiguous. Views that it hands out
 * stay valid: it never writes to a byte twice.
 */
export class ByteWindow {
  readonly #source: AsyncIterator<Uint8Array>;
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** Whether `#bytes` was allocated here, so that what is behind `#end` may be written to. */
  #isOwn = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Offsets, here and below, count from the first byte that is not consumed. */
  at(offset: number): number | undefined {
    return offset < this.length ? this.#bytes[this.#start + offset] : undefined;
  }

  /** Where `needle` begins at or after `from`, or -1. */
  indexOf(needle: number | Uint8Array, from: number): number {
    if (from >= this.length) return -1;
    const found = this.#bytes.indexOf(needle, this.#start + from);
    const size = typeof needle === "number" ? 1 : needle.byteLength;
    return found === -1 || found + size > this.#end ? -1 : found - this.#start;
  }

  view(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(this.#start + from, this.#start + to);
  }

  /** Consumes the next `count` bytes, which must be here. */
  take(count: number): Uint8Array {
    const bytes = this.view(0, count);
    this.#start += count;
    return bytes;
  }

  /** Waits for one more chunk; false at the end of the source. */
  async fill(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done === true) return false;
    this.#append(value);
    return true;
  }

  /** Says that no more will be read. */
  async cancel(): Promise<void> {
    await this.#source.return?.();
  }

  #append(chunk: Uint8Array): void {
    const rest = this.length;
    if (rest === 0) {
      this.#bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.#start = 0;
      this.#end = chunk.byteLength;
      this.#isOwn = false;
      return;
    }
    if (!this.#isOwn || this.#end + chunk.byteLength > this.#bytes.byteLength) {
      // Room to grow: otherwise many small chunks would copy the rest anew each time.
      const grown = Buffer.alloc(Math.max(rest + chunk.byteLength, 2 * rest));
      grown.set(this.view(0, rest));
      this.#bytes = grown;
      this.#start = 0;
      this.#end = rest;
      this.#isOwn = true;
    }
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.byteLength;
  }
}
