import { type Region, REGIONS } from "../lib/region.ts";

/** The prefix that identifies keys in logs and to secret scanners. */
const KEY_PREFIX = "tw_";

const SECRET_BYTES = 32;

/** Characters of a key's secret that may be shown again: enough to tell keys apart, too few to guess a key. */
const SHOWN_CHARS = 8;

/** The fixed length prevents a key without a region from being read as regional by its random characters. */
const REGIONAL_KEY = new RegExp(`^${KEY_PREFIX}(${REGIONS.join("|")})_[\\w-]{43}$`);

/** Matches a key within a text, with a region or from before keys had one, but not within a longer word. */
const KEY_IN_TEXT = new RegExp(
  `(?<![\\w-])${KEY_PREFIX}(?:(?:${REGIONS.join("|")})_)?[\\w-]{43}(?![\\w-])`,
);

/** Generates a key: `tw_us_` or `tw_eu_`, and 43 base64url characters with 256 random bits. */
export function generateApiKey(region: Region): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const base64 = btoa(String.fromCharCode(...bytes));
  const secret = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${KEY_PREFIX}${region}_${secret}`;
}

/**
 * Returns the region in which a key was made; null for a key without one, which belongs to the region that
 * received it.
 */
export function apiKeyRegion(key: string): Region | null {
  const name = REGIONAL_KEY.exec(key)?.[1];
  return REGIONS.find((region) => region === name) ?? null;
}

/**
 * Whether a header, a cookie or a query contains text that looks like a key: repeated, quoted, after a scheme,
 * percent-encoded, or as the user or password of basic authentication.
 */
export function holdsApiKey(text: string): boolean {
  return [text, percentDecoded(text), basicCredentials(text)].some((form) =>
    KEY_IN_TEXT.test(form),
  );
}

/** Decodes each byte on its own, so that invalid encoding elsewhere in the text cannot hide a key. */
function percentDecoded(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function basicCredentials(text: string): string {
  const encoded = /\bbasic\s+([\w+/-]+)/i.exec(text)?.[1] ?? "";
  return Buffer.from(encoded, "base64").toString("latin1");
}

export function apiKeyPrefix(key: string): string {
  const region = apiKeyRegion(key);
  const start = KEY_PREFIX.length + (region === null ? 0 : region.length + 1);
  return key.slice(0, start + SHOWN_CHARS);
}
