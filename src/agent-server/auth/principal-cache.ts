import type { AuthInfo } from "../../graph-runtime/protocol.ts";
import type { Principal } from "../../lib/principal.ts";

type CacheSettings = NonNullable<AuthInfo["cache"]>;

/**
 * Who was authenticated lately, by the values of the headers that the project names. In an isolate's
 * memory, the one used longest ago goes first.
 */
export class PrincipalCache {
  readonly #settings: CacheSettings;
  readonly #now: () => number;
  readonly #known = new Map<string, { principal: Principal; expiresAt: number }>();

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
    const found = this.#known.get(key);
    if (found === undefined) return undefined;
    this.#known.delete(key);
    if (found.expiresAt <= this.#now()) return undefined;
    this.#known.set(key, found);
    return found.principal;
  }

  set(key: string, principal: Principal): void {
    this.#known.delete(key);
    this.#known.set(key, { principal, expiresAt: this.#now() + this.#settings.ttl_ms });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#settings.max_size) return;
      this.#known.delete(oldest);
    }
  }
}
