import type { Decision } from "./local-limiter.ts";
import type { Limit } from "./policy.ts";

/** The names of all rate limit headers, which CORS has to expose to browsers. */
export const RATE_LIMIT_HEADERS = [
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
];

/** Enough digits to tell partitions apart. */
const SHOWN_HASH_CHARS = 16;

/**
 * Returns the headers that describe the limit that counted a request: the fields of
 * draft-ietf-httpapi-ratelimit-headers-11, and the older `X-RateLimit` ones. `partition` is the hexadecimal hash
 * of the value by which the limit counts.
 */
export function rateLimitHeaders(
  { name, limit, partition }: { name: string; limit: Limit; partition: string },
  decision: Decision,
  now: number,
): [name: string, value: string][] {
  const { count, seconds } = limit;
  const key = `pk=:${base64OfHex(partition.slice(0, SHOWN_HASH_CHARS))}:`;
  const policy: [string, string][] = [
    ["ratelimit-policy", `"${name}";q=${count};w=${seconds};${key}`],
    ["x-ratelimit-limit", String(count)],
  ];
  if (decision.kind === "uncounted") return policy;
  const isRefused = decision.kind === "refused";
  const remaining = isRefused ? 0 : decision.remaining;
  // A permit used now is free again after the limit's time, and so are all that are in use now.
  const resetSeconds = isRefused ? retrySeconds(decision.retryMs) : seconds;
  return [
    ...policy,
    ["ratelimit", `"${name}";r=${remaining};t=${resetSeconds};${key}`],
    ["x-ratelimit-remaining", String(remaining)],
    ["x-ratelimit-reset", String(Math.ceil(now / 1000) + resetSeconds)],
    ...(isRefused ? [["retry-after", String(resetSeconds)] satisfies [string, string]] : []),
  ];
}

export function retrySeconds(retryMs: number): number {
  return Math.max(1, Math.ceil(retryMs / 1000));
}

function base64OfHex(hex: string): string {
  const bytes = (hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16));
  return btoa(String.fromCharCode(...bytes));
}
