import { isolateCache } from "../lib/isolate-cache.ts";
import type { FindKey, KeyIdentity } from "../lib/principal.ts";
import { sameHash, sha256Hex } from "../lib/bytes.ts";

/** Keys that exist, by their hash. A revoked one may still be taken for five seconds. */
const recentKeys = isolateCache<string, KeyIdentity>({ maxEntries: 10_000, ttlMs: 5_000 });

/**
 * The API key of a request and whom it belongs to. A key is hashed once for a request and looked up once,
 * however many ask. Keys are stored as hashes: each has 256 random bits, so a slow password hash would add nothing.
 */
export class Caller {
  /** What the request has in the place of a key: in `X-Api-Key`, else after `Bearer`. */
  readonly key: string | undefined;
  /** The key of `X-Api-Key` alone, for where a bearer token is somebody else's. */
  readonly headerKey: string | undefined;
  readonly #findKey: FindKey;
  readonly #hashes = new Map<string, Promise<string>>();
  readonly #stored = new Map<string, Promise<KeyIdentity | undefined>>();

  constructor(headers: Headers, findKey: FindKey) {
    this.headerKey = singleValue(headers.get("x-api-key") ?? undefined);
    this.key = this.headerKey || bearerToken(headers.get("authorization"));
    this.#findKey = findKey;
  }

  hashOf(key: string): Promise<string> {
    const known = this.#hashes.get(key) ?? sha256Hex(key);
    this.#hashes.set(key, known);
    return known;
  }

  /** Whom a key belongs to, as the database says now; undefined for what is no key. */
  async current(key: string): Promise<KeyIdentity | undefined> {
    const hash = await this.hashOf(key);
    const asked = this.#stored.get(hash) ?? this.#findKey(hash);
    this.#stored.set(hash, asked);
    const identity = await asked;
    if (identity === undefined || !sameHash(identity.hash, hash)) {
      recentKeys.delete(hash);
      return undefined;
    }
    recentKeys.set(hash, identity);
    return identity;
  }

  /** Like `current`, as of at most five seconds ago. Only keys that exist are remembered. */
  async recent(key: string): Promise<KeyIdentity | undefined> {
    return recentKeys.get(await this.hashOf(key)) ?? this.current(key);
  }
}

/**
 * One key for a header that was sent several times with the same key: the runtime joins the values
 * with commas, which no key has. Official clients send `X-API-Key` and `x-api-key` together. Different
 * values stay as they are, so that they are no key.
 */
export function singleValue(header: string | undefined): string | undefined {
  if (header === undefined || !header.includes(",")) return header;
  const values = new Set(header.split(",").map((value) => value.trim()));
  const [only] = values;
  return values.size === 1 ? only : header;
}

function bearerToken(header: string | null): string | undefined {
  return header === null ? undefined : /^Bearer +(\S+)$/i.exec(header)?.[1];
}
