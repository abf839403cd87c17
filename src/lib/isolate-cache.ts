import { LRUCache } from "lru-cache";

type Limits = {
  maxEntries: number;
  /** Maximum age of an entry in milliseconds; without it, entries do not expire. */
  ttlMs?: number;
};

/**
 * Creates an in-memory cache of this isolate. Its entries are copies of data held elsewhere, so a change there
 * becomes visible here after at most `ttlMs`. When the cache is full, the least recently used entry is evicted.
 */
export function isolateCache<K extends {}, V extends {}>({
  maxEntries,
  ttlMs,
}: Limits): LRUCache<K, V> {
  return new LRUCache({ max: maxEntries, ...(ttlMs === undefined ? {} : timeToLive(ttlMs)) });
}

/** Returns the cache options that expire entries after `ttlMs`, by a clock in milliseconds. */
export function timeToLive(ttlMs: number, now = (): number => Date.now()) {
  // With a resolution above 0 the library caches the time until a timer fires. A timer ends with the request that
  // set it, after which the cached time would never advance.
  return { ttl: ttlMs, ttlResolution: 0, perf: { now } };
}
