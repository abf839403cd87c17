import { ByteWriter } from "hyparquet-writer";

/** Collects a file's bytes: what the library writes, and pages written directly, in one order. */
export class FileOutput {
  /** The library's writer. Its `offset` is that of the file. */
  readonly writer = new ByteWriter();
  readonly #parts: PartBuffer;

  constructor(partBytes: number, write: (part: Uint8Array) => Promise<void>) {
    this.#parts = new PartBuffer(partBytes, write);
  }

  get offset(): number {
    return this.writer.offset;
  }

  /** Appends `bytes` after what the library has written. */
  async append(bytes: Uint8Array): Promise<void> {
    await this.#takeWritten();
    this.writer.offset += bytes.length;
    await this.#parts.append(bytes);
  }

  async finish(): Promise<void> {
    await this.#takeWritten();
    await this.#parts.finish();
  }

  async #takeWritten(): Promise<void> {
    const { writer } = this;
    if (writer.index === 0) return;
    await this.#parts.append(writer.getBytes());
    writer.index = 0;
  }
}

/** Splits a stream of bytes into parts of equal size; only the last one may be smaller. */
class PartBuffer {
  readonly #partBytes: number;
  readonly #write: (part: Uint8Array) => Promise<void>;
  #part: Uint8Array | null = null;
  #used = 0;

  constructor(partBytes: number, write: (part: Uint8Array) => Promise<void>) {
    this.#partBytes = partBytes;
    this.#write = write;
  }

  async append(bytes: Uint8Array): Promise<void> {
    let taken = 0;
    while (taken < bytes.length) {
      this.#part ??= new Uint8Array(this.#partBytes);
      const some = bytes.subarray(taken, taken + this.#partBytes - this.#used);
      this.#part.set(some, this.#used);
      this.#used += some.length;
      taken += some.length;
      if (this.#used === this.#partBytes) await this.#flush();
    }
  }

  async finish(): Promise<void> {
    if (this.#used > 0) await this.#flush();
  }

  /** Passes the part on; it belongs to the receiver from then on. */
  async #flush(): Promise<void> {
    const part = this.#part?.subarray(0, this.#used) ?? new Uint8Array();
    this.#part = null;
    this.#used = 0;
    await this.#write(part);
  }
}
