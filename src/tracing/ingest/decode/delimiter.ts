/**
 * The bytes of a stream of chunks that are not consumed yet, contiguous. The views that it returns stay
 * valid, because it never writes to a byte twice.
 */
export class ByteWindow {
  readonly #source: AsyncIterator<Uint8Array>;
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** Whether `#bytes` was allocated here, so that bytes after `#end` may be written to. */
  #isOwn = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Offsets, here and below, count from the first unconsumed byte. */
  at(offset: number): number | undefined {
    return offset < this.length ? this.#bytes[this.#start + offset] : undefined;
  }

  /** Returns the first position of `needle` at or after `from`, or -1. */
  indexOf(needle: number | Uint8Array, from: number): number {
    if (from >= this.length) return -1;
    const found = this.#bytes.indexOf(needle, this.#start + from);
    const size = typeof needle === "number" ? 1 : needle.byteLength;
    return found === -1 || found + size > this.#end ? -1 : found - this.#start;
  }

  view(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(this.#start + from, this.#start + to);
  }

  /** Consumes the next `count` bytes, which must have arrived. */
  take(count: number): Uint8Array {
    const bytes = this.view(0, count);
    this.#start += count;
    return bytes;
  }

  /** Waits for one more chunk. Returns false at the end of the source. */
  async fill(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done === true) return false;
    this.#append(value);
    return true;
  }

  /** Tells the source that no more will be read. */
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
      // Leave room to grow: otherwise many small chunks would each copy the rest again.
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

export const LF = 10;
export const CR = 13;
const SPACE = 32;
const TAB = 9;
export const DASH = 45;

const CRLF = [CR, LF];
const LF_ONLY = [LF];

/** The line `--boundary` that separates parts, after CRLF or a bare LF. */
export class Delimiter {
  /** `--boundary`, without the line end before it. */
  readonly line: Uint8Array;
  readonly #afterLf: Uint8Array;
  /** Which line ends the client uses: a declared length that is off by one must not match the other kind. */
  endsWithCrLf = true;

  constructor(boundary: string) {
    this.line = new TextEncoder().encode(`--${boundary}`);
    this.#afterLf = new TextEncoder().encode(`\n--${boundary}`);
  }

  /** Returns the delimiter's length if it is at `offset`, false if not, undefined if more bytes are needed. */
  matchAt(window: ByteWindow, offset: number): number | false | undefined {
    const lineEnd = this.endsWithCrLf ? CRLF : LF_ONLY;
    for (const [index, expected] of lineEnd.entries()) {
      const byte = window.at(offset + index);
      if (byte === undefined) return undefined;
      if (byte !== expected) return false;
    }
    return this.#lineAt(window, offset, lineEnd.length);
  }

  /** Like `matchAt`, at the beginning of a line. */
  matchLineAt(window: ByteWindow, offset: number): number | false | undefined {
    return this.#lineAt(window, offset, 0);
  }

  /**
   * Finds the first delimiter, after line ends of either kind. `end` is the end of the bytes before it and
   * `length` its own length. If there is none yet, no byte before `clear` belongs to one.
   */
  find(window: ByteWindow): { end: number; length: number } | { clear: number } {
    let from = 0;
    for (;;) {
      const lf = window.indexOf(this.#afterLf, from);
      // The beginning of a delimiter may be at the very end, with the CR before it.
      if (lf === -1) return { clear: Math.max(0, window.length - this.#afterLf.byteLength) };
      const end = lf > 0 && window.at(lf - 1) === CR ? lf - 1 : lf;
      const after = lf + this.#afterLf.byteLength;
      const isWhole = endsLine(window, after);
      if (isWhole === undefined) return { clear: end };
      if (isWhole) return { end, length: after - end };
      from = lf + 1;
    }
  }

  #lineAt(window: ByteWindow, offset: number, lineEnd: number): number | false | undefined {
    const { line } = this;
    const start = offset + lineEnd;
    for (let index = 0; index < line.byteLength; index += 1) {
      const byte = window.at(start + index);
      if (byte === undefined) return undefined;
      if (byte !== line[index]) return false;
    }
    return lineEnd + line.byteLength;
  }
}

/** Returns whether a boundary may end at `offset`: otherwise the text only begins like one. */
function endsLine(window: ByteWindow, offset: number): boolean | undefined {
  const byte = window.at(offset);
  if (byte !== DASH) {
    return byte === undefined ? undefined : [CR, LF, SPACE, TAB].includes(byte);
  }
  const next = window.at(offset + 1);
  return next === undefined ? undefined : next === DASH;
}
