/** The least and the greatest of texts, in the order of their UTF-8 bytes. */
export class ByteBounds {
  #min: Uint8Array | null = null;
  #max: Uint8Array | null = null;

  /** `source` from `start` to before `end`; it is not kept. */
  add(source: Uint8Array, start: number, end: number): void {
    if (this.#min === null || this.#max === null) {
      this.#min = source.slice(start, end);
      this.#max = this.#min;
      return;
    }
    if (compare(source, start, end, this.#min) < 0) this.#min = source.slice(start, end);
    else if (compare(source, start, end, this.#max) > 0) this.#max = source.slice(start, end);
  }

  get min(): Uint8Array | undefined {
    return this.#min ?? undefined;
  }

  get max(): Uint8Array | undefined {
    return this.#max ?? undefined;
  }
}

function compare(source: Uint8Array, start: number, end: number, other: Uint8Array): number {
  const common = Math.min(end - start, other.length);
  for (let index = 0; index < common; index += 1) {
    const difference = (source[start + index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return end - start - other.length;
}
