/**
 * What one turn of an object may read for a caller. Other requests of the object, and of its process, wait for a
 * turn to end, and what it has read is in memory until it is answered.
 */
export class ReadBudget {
  readonly #max: { rows: number; bytes: number };
  #rows = 0;
  #bytes = 0;

  constructor(max: { rows: number; bytes: number }) {
    this.#max = max;
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isSpent(): boolean {
    return this.#rows >= this.#max.rows || this.#bytes >= this.#max.bytes;
  }

  /** Whether so many more bytes may be read. */
  hasRoomFor(bytes: number): boolean {
    return this.#bytes + bytes <= this.#max.bytes;
  }

  count(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }
}
