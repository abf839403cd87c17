/**
 * Limits what one turn of an object may read for a caller. Other requests to the object, and to its process, wait
 * until the turn ends, and the rows that it has read stay in memory until it is answered.
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

  /** Whether this number of further bytes may be read. */
  hasRoomFor(bytes: number): boolean {
    return this.#bytes + bytes <= this.#max.bytes;
  }

  count(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }
}
