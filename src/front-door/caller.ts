import { isolateCache } from "../lib/isolate-cache.ts";
import type { FindKey, KeyIdentity } from "../lib/principal.ts";
import { sameHash, sha256Hex } from "../lib/bytes.ts";

/** Existing keys by their hash. A revoked key can be accepted for up to five seconds. */
const recentKeys = isolateCache<string, KeyIdentity>({ maxEntries: 10_000, ttlMs: 5_000 });

/**
 * The API key of a request and its identity. A key is hashed and looked up at most once per request, however many
 * handlers ask. Keys are stored as plain hashes: each has 256 random bits, so a slow password hash would add
 * nothing.
 */
export class Caller {
  /** The key as sent, not verified: from `X-Api-Key`, else from `Authorization: Bearer`. */
  readonly key: string | undefined;
  /** The key from `X-Api-Key` alone, for routes on which a bearer token belongs to another service. */
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

  /** Returns the identity of a key from the database; undefined when there is no such key. */
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

  /** Returns the same as `current`, as of at most five seconds ago. Only existing keys are cached. */
  async recent(key: string): Promise<KeyIdentity | undefined> {
    return recentKeys.get(await this.hashOf(key)) ?? this.current(key);
  }
}

/**
 * Returns the single key of a header that was sent several times with the same key. Official clients send
 * `X-API-Key` and `x-api-key` together, and the runtime joins the values with commas, which no key contains.
 * Different values are returned unchanged, and match no key.
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
