import { TextFilter } from "./text-filter.ts";

/** Returns a hash of 32 bits: FNV-1a, with its bits mixed because only the last few of them are used. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mixed(hash);
}

/** Returns another hash of the same text. */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

const EMPTY = 0;
/** Replaces a hash that would be EMPTY. */
const INSTEAD_OF_EMPTY = 1;
const FIRST_SLOTS = 1024;

/** A set of 32-bit hashes: it takes eight bytes for each at most, where a Set takes some forty. */
export class HashSet {
  #slots = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  has(hash: number): boolean {
    return this.#slots[this.#slotOf(this.#slots, hash || INSTEAD_OF_EMPTY)] !== EMPTY;
  }

  add(hash: number): void {
    const value = hash || INSTEAD_OF_EMPTY;
    const slot = this.#slotOf(this.#slots, value);
    if (this.#slots[slot] !== EMPTY) return;
    this.#slots[slot] = value;
    this.#size += 1;
    if (this.#size * 2 > this.#slots.length) this.#grow();
  }

  /** Returns the slot of a value, or the free slot for it, which is after others that collided with it. */
  #slotOf(slots: Uint32Array, value: number): number {
    const mask = slots.length - 1;
    let slot = value & mask;
    while (slots[slot] !== EMPTY && slots[slot] !== value) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const larger = new Uint32Array(this.#slots.length * 2);
    for (const value of this.#slots) {
      if (value !== EMPTY) larger[this.#slotOf(larger, value)] = value;
    }
    this.#slots = larger;
  }
}

/** With the thousand different terms of a full segment, two of a thousand tests are false positives. */
const TERM_BYTES = 2048;
const BIT_MASK = TERM_BYTES * 8 - 1;
const BITS_PER_TERM = 4;
const FIRST_HASHES = 64;

/**
 * What is known of the runs that start within a range of time: the hashes of their ids, and a Bloom filter of
 * their terms (see filter/run-terms.ts). It may contain what is no longer there, and never lacks what is there.
 */
export class Segment {
  /** Its runs start at this time or later, and before the next segment's first start. */
  readonly firstStart: number;
  /** The latest start among the runs that were added since the shard was opened. */
  lastStart: number;
  /** How many runs it had when it could not be divided; 0 before that. */
  indivisibleRuns = 0;
  /** Whether its row in `segments` is missing or incomplete. */
  isOpen: boolean;
  /** The texts of an open segment's runs; null if they must be read from the runs. */
  texts: TextFilter | null;
  #earliestStart: number;
  #ids: Uint32Array;
  #count: number;
  readonly #terms: Uint8Array;

  constructor(firstStart: number, stored?: { ids: ArrayBuffer; terms: ArrayBuffer }) {
    this.firstStart = firstStart;
    this.lastStart = firstStart;
    this.#earliestStart = stored === undefined ? Infinity : firstStart;
    this.isOpen = stored === undefined;
    this.texts = stored === undefined ? new TextFilter() : null;
    this.#ids = stored === undefined ? new Uint32Array(FIRST_HASHES) : new Uint32Array(stored.ids);
    this.#count = stored === undefined ? 0 : this.#ids.length;
    this.#terms = stored === undefined ? new Uint8Array(TERM_BYTES) : new Uint8Array(stored.terms);
  }

  /** Number of runs that were added. */
  get size(): number {
    return this.#count;
  }

  /**
   * Returns whether it has more runs than this and can perhaps be divided: runs with the same start stay together, and
   * after an attempt that failed, it must have twice as many runs before the next one.
   */
  isToBeDivided(mostRuns: number): boolean {
    const few = Math.max(mostRuns, 2 * this.indivisibleRuns);
    return this.#count > few && this.#earliestStart < this.lastStart;
  }

  get ids(): Uint32Array {
    return this.#ids.subarray(0, this.#count);
  }

  get terms(): Uint8Array {
    return this.#terms;
  }

  hasId(hash: number): boolean {
    const at = this.#ids.indexOf(hash);
    return at !== -1 && at < this.#count;
  }

  addId(hash: number, start: number): void {
    if (this.#count === this.#ids.length) {
      const larger = new Uint32Array(Math.max(this.#count * 2, FIRST_HASHES));
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids[this.#count] = hash;
    this.#count += 1;
    this.lastStart = Math.max(this.lastStart, start);
    this.#earliestStart = Math.min(this.#earliestStart, start);
  }

  mayHave(term: number): boolean {
    const step = mixed(term) | 1;
    for (let n = 0; n < BITS_PER_TERM; n += 1) {
      const bit = (term + n * step) & BIT_MASK;
      if (((this.#terms[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  }

  /** Returns true if the term was not known before. */
  addTerm(term: number): boolean {
    const step = mixed(term) | 1;
    let isNew = false;
    for (let n = 0; n < BITS_PER_TERM; n += 1) {
      const bit = (term + n * step) & BIT_MASK;
      const byte = this.#terms[bit >>> 3] ?? 0;
      const set = byte | (1 << (bit & 7));
      if (set === byte) continue;
      this.#terms[bit >>> 3] = set;
      isNew = true;
    }
    return isNew;
  }
}
