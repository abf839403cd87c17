/** Pseudo-random numbers that are the same for the same seed, so that a failure can be repeated. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a whole number from `from` to `to`, inclusive. */
  between(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.between(0, values.length - 1)] ?? values[0];
  }

  /** Returns the next number of the mulberry32 generator. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

/** Returns a seed. RESTART_SEED repeats a former run. */
export function chooseSeed(): number {
  const given = process.env["RESTART_SEED"];
  return given === undefined ? Math.floor(Math.random() * 1_000_000) : Number(given);
}
