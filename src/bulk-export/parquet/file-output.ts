import { ByteWriter } from "hyparquet-writer";
import { PartBuffer } from "./part-buffer.ts";

/** Where a file's bytes go: what the library writes, and pages past it, in one order. */
export class FileOutput {
  /** For the library; its `offset` is that of the file. */
  readonly writer = new ByteWriter();
  readonly #parts: PartBuffer;

  constructor(partBytes: number, write: (part: Uint8Array) => Promise<void>) {
    this.#parts = new PartBuffer(partBytes, write);
  }

  get offset(): number {
    return this.writer.offset;
  }

  /** Writes `bytes` behind what the library has written. */
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
