import { describe, test } from "vitest";
import { PrincipalCache } from "../../../../src/agent-server/auth/principal-cache.ts";
import type { Principal } from "../../../../src/lib/principal.ts";

function principal(identity: string): Principal {
  const user = { identity, display_name: identity, is_authenticated: true, permissions: [] };
  return { user, permissions: [] };
}

function newCache(max_size = 2) {
  const clock = { now: 5000 };
  const settings = { headers: ["authorization", "x-team"], ttl_ms: 1000, max_size };
  return { clock, cache: new PrincipalCache(settings, () => clock.now) };
}

describe("the cache of authenticated callers", () => {
  test("distinguishes requests by the values of all its headers", ({ expect }) => {
    const { cache } = newCache();
    const keyOf = (headers: Record<string, string>) => cache.keyOf((name) => headers[name]);
    const keys = [
      keyOf({ authorization: "a" }),
      keyOf({ "x-team": "a" }),
      keyOf({ authorization: "a", "x-team": "" }),
      keyOf({ authorization: "a", "x-team": "b" }),
      keyOf({ authorization: 'a","b' }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(keyOf({ cookie: "a" })).toBeNull();
  });

  test("expires an entry after its lifetime, counted from when it was added", ({ expect }) => {
    const { cache, clock } = newCache();
    cache.set("a", principal("alice"));
    clock.now += 1000;
    expect(cache.get("a")).toEqual(principal("alice"));
    clock.now += 1;
    expect(cache.get("a")).toBeUndefined();
  });

  test("evicts the least recently used entry when it is full", ({ expect }) => {
    const { cache } = newCache();
    cache.set("a", principal("alice"));
    cache.set("b", principal("bob"));
    cache.get("a");
    cache.set("c", principal("carol"));
    expect(["a", "b", "c"].map((key) => cache.get(key)?.user.identity)).toEqual([
      "alice",
      undefined,
      "carol",
    ]);
  });

  test("is bounded, whatever size the project configures", ({ expect }) => {
    const { cache } = newCache(1_000_000);
    const large = "x".repeat(100_000);
    for (let index = 0; index < 50; index += 1)
      cache.set(`${index}`, principal(`${index}${large}`));
    const known = Array.from({ length: 50 }, (_, index) => cache.get(`${index}`) !== undefined);
    // Each name is in the list twice.
    expect(known.filter(Boolean)).toHaveLength(19);
    expect(known.lastIndexOf(false)).toBe(30);
  });
});
