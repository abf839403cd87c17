/** What a shard is to do in a second at most, so that it has room for what comes all of a sudden, and for questions. */
export type LoadLimits = {
  requests: number;
  writes: number;
  /** Each time that the shard has grown by so many bytes, it asks for twice as many buckets. */
  bytes: number;
};

/**
 * Less than half of what an object can do. Cloudflare names 1,000 requests a second and 10 GB; 15,000 writes of runs were
 * measured on a core with nothing else to do (docs/performance.md), of which a third is counted on.
 */
const LOAD_LIMITS: LoadLimits = { requests: 300, writes: 2_000, bytes: 2 * 1024 ** 3 };

/** Long enough that a burst is none, and so short that a load which grows is noticed while it does. */
const WINDOW_MS = 5_000;

/** How much a shard has to do. Times are epoch milliseconds. */
export class LoadMeter {
  readonly #limits: LoadLimits;
  #since: number | null = null;
  #requests = 0;
  #writes = 0;
  #grownTo: number | null = null;

  constructor(limits: LoadLimits = LOAD_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Notes a request. When that ends a window in which there was too much to do, it returns how many times as much
   * as there should be; null otherwise.
   */
  note(writes: number, bytes: number, now: number): number | null {
    this.#requests += 1;
    this.#writes += writes;
    this.#since ??= now;
    const steps = Math.floor(bytes / this.#limits.bytes);
    // What it had when it was opened, it has asked for before.
    const hasGrown = this.#grownTo !== null && steps > this.#grownTo;
    this.#grownTo = Math.max(steps, this.#grownTo ?? 0);
    const seconds = (now - this.#since) / 1000;
    if (seconds * 1000 < WINDOW_MS) return hasGrown ? 2 : null;
    const load = Math.max(
      this.#requests / seconds / this.#limits.requests,
      this.#writes / seconds / this.#limits.writes,
      hasGrown ? 2 : 0,
    );
    this.#since = now;
    this.#requests = 0;
    this.#writes = 0;
    return load > 1 ? load : null;
  }
}
