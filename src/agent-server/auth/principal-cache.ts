import { LRUCache } from "lru-cache";
import type { AuthInfo } from "../../graph-runtime/protocol.ts";
import { timeToLive } from "../../lib/isolate-cache.ts";
import type { Principal } from "../../lib/principal.ts";

type CacheSettings = NonNullable<AuthInfo["cache"]>;

/** Upper limits of a cache, whatever size the project asks for, because the memory is shared with others. */
const MAX_USERS = 10_000;
const MAX_CHARS = 4_000_000;

/**
 * Caches recently authenticated principals in the isolate's memory, keyed by the values of the headers that the
 * project names. The least recently used entry is evicted first.
 */
export class PrincipalCache {
  readonly #headers: readonly string[];
  readonly #known: LRUCache<string, Principal>;

  constructor({ headers, max_size, ttl_ms }: CacheSettings, now: () => number = Date.now) {
    this.#headers = headers;
    this.#known = new LRUCache({
      max: Math.min(max_size, MAX_USERS),
      maxSize: MAX_CHARS,
      sizeCalculation: (principal, key) => key.length + JSON.stringify(principal).length,
      ...timeToLive(Math.ceil(ttl_ms), now),
    });
  }

  /** Returns the cache key of a request; null if it has none of the headers, so that callers cannot be told apart. */
  keyOf(header: (name: string) => string | undefined): string | null {
    const values = this.#headers.map((name) => header(name) ?? null);
    return values.every((value) => value === null) ? null : JSON.stringify(values);
  }

  get(key: string): Principal | undefined {
    return this.#known.get(key);
  }

  set(key: string, principal: Principal): void {
    this.#known.set(key, principal);
  }
}
