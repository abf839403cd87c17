import { LRUCache } from "lru-cache";

type Limits = {
  maxEntries: number;
  /** How long an entry is believed; without it, for as long as it is there. */
  ttlMs?: number;
};

/**
 * What this isolate remembers, by a key: a copy of what is true elsewhere, so whoever changes that is seen here
 * after `ttlMs` at the latest. The entry that was used longest ago goes first.
 */
export function isolateCache<K extends {}, V extends {}>({
  maxEntries,
  ttlMs,
}: Limits): LRUCache<K, V> {
  return new LRUCache({ max: maxEntries, ...(ttlMs === undefined ? {} : timeToLive(ttlMs)) });
}

/** How the library is to forget entries after `ttlMs`, by a clock in milliseconds. */
export function timeToLive(ttlMs: number, now = (): number => Date.now()) {
  // A resolution above 0 keeps the time in a timer, which ends with the request that set it: time would stand still.
  return { ttl: ttlMs, ttlResolution: 0, perf: { now } };
}
