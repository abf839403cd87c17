/** Bytes at the start of a frame. The second one has the length, or says how many further bytes have it. */
const HEADER_BYTES = 2;
const LENGTH_BITS = 0x7f;
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;
const OPCODE_BITS = 0x0f;
const TEXT = 1;

/**
 * Counts the text frames that a server sends without reading their text: a client would cost more than the server
 * otherwise.
 */
export class TextFrameCounter {
  #count = 0;
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes of the current frame that have not arrived yet. */
  #skip = 0;

  /** Returns the number of frames that have begun up to the end of these bytes. */
  add(chunk: Buffer): number {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const skipped = Math.min(this.#skip, bytes.length);
      bytes = bytes.subarray(skipped);
      this.#skip -= skipped;
      const header = headerOf(bytes);
      if (header === null) break;
      if (header.isText) this.#count += 1;
      this.#skip = header.frameBytes;
    }
    this.#rest = bytes;
    return this.#count;
  }
}

/** Returns null when the header is not complete yet. */
function headerOf(bytes: Buffer): { isText: boolean; frameBytes: number } | null {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return null;
  const isText = (first & OPCODE_BITS) === TEXT;
  const short = second & LENGTH_BITS;
  if (short < IN_TWO_BYTES) return { isText, frameBytes: HEADER_BYTES + short };
  const lengthBytes = short === IN_EIGHT_BYTES ? 8 : 2;
  if (bytes.length < HEADER_BYTES + lengthBytes) return null;
  const length =
    lengthBytes === 8
      ? Number(bytes.readBigUInt64BE(HEADER_BYTES))
      : bytes.readUInt16BE(HEADER_BYTES);
  return { isText, frameBytes: HEADER_BYTES + lengthBytes + length };
}

/** Returns a short text as a client's frame: masked, here with zeros. */
export function clientTextFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length >= IN_TWO_BYTES) throw new Error("The text is too long for a short frame");
  return Buffer.concat([Buffer.from([0x80 | TEXT, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
