import type { AuthInfo } from "../../graph-runtime/protocol.ts";
import type { Principal } from "../../lib/principal.ts";

type CacheSettings = NonNullable<AuthInfo["cache"]>;

/** Of keys and principals together, whatever size the project asks for: others share the memory. */
const MAX_CHARS = 4_000_000;

type Entry = { principal: Principal; expiresAt: number; chars: number };

/**
 * Who was authenticated lately, by the values of the headers that the project names. In an isolate's
 * memory, the one used longest ago goes first.
 */
export class PrincipalCache {
  readonly #settings: CacheSettings;
  readonly #now: () => number;
  readonly #known = new Map<string, Entry>();
  #chars = 0;

  constructor(settings: CacheSettings, now: () => number = Date.now) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Null for a request that has none of the headers: nobody is known by that. */
  keyOf(header: (name: string) => string | undefined): string | null {
    const values = this.#settings.headers.map((name) => header(name) ?? null);
    return values.every((value) => value === null) ? null : JSON.stringify(values);
  }

  get(key: string): Principal | undefined {
    const found = this.#take(key);
    if (found === undefined || found.expiresAt <= this.#now()) return undefined;
    this.#put(key, found);
    return found.principal;
  }

  set(key: string, principal: Principal): void {
    this.#take(key);
    const chars = key.length + JSON.stringify(principal).length;
    this.#put(key, { principal, expiresAt: this.#now() + this.#settings.ttl_ms, chars });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#settings.max_size && this.#chars <= MAX_CHARS) return;
      this.#take(oldest);
    }
  }

  #take(key: string): Entry | undefined {
    const found = this.#known.get(key);
    if (this.#known.delete(key)) this.#chars -= found?.chars ?? 0;
    return found;
  }

  #put(key: string, entry: Entry): void {
    this.#known.set(key, entry);
    this.#chars += entry.chars;
  }
}
