/** A frame's first two bytes: the length is in the second, or in so many bytes after them. */
const HEADER_BYTES = 2;
const LENGTH_BITS = 0x7f;
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;
const OPCODE_BITS = 0x0f;
const TEXT = 1;

/** Counts the text frames that a server sends, and looks at nothing in them: a client costs more than the server does. */
export class TextFrameCounter {
  #count = 0;
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes of a frame that are still to come. */
  #skip = 0;

  /** How many frames have begun after these bytes. */
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

/** Null when there is not all of it. */
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

/** A short text as a client sends it: masked, here with zeros. */
export function clientTextFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length >= IN_TWO_BYTES) throw new Error("The text is too long for a short frame");
  return Buffer.concat([Buffer.from([0x80 | TEXT, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
