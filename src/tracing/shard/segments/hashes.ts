/** A text in 32 bits: FNV-1a, with its bits mixed, as what is taken of them is the last few. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mixed(hash);
}

/** Another number of the same text. */
export function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

const EMPTY = 0;
/** Takes the place of the hash that would be EMPTY. */
const INSTEAD_OF_EMPTY = 1;
const FIRST_CAPACITY = 1024;

/** Hashes of 32 bits: eight bytes for each at most, where a Set takes some forty. */
export class HashSet {
  #slots = new Uint32Array(FIRST_CAPACITY);
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

  /** Where the value is, or would be: behind others that fell on its place. */
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
