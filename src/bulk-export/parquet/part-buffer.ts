/** Cuts a stream of bytes into parts of one size; only the last one may be smaller. */
export class PartBuffer {
  readonly #partBytes: number;
  readonly #write: (part: Uint8Array) => Promise<void>;
  #part: Uint8Array | null = null;
  #used = 0;
  #total = 0;

  constructor(partBytes: number, write: (part: Uint8Array) => Promise<void>) {
    this.#partBytes = partBytes;
    this.#write = write;
  }

  /** Of all that was appended. */
  get total(): number {
    return this.#total;
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#total += bytes.length;
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

  /** The part is the receiver's from here on. */
  async #flush(): Promise<void> {
    const part = this.#part?.subarray(0, this.#used) ?? new Uint8Array();
    this.#part = null;
    this.#used = 0;
    await this.#write(part);
  }
}
