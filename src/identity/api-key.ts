import { type Region, REGIONS } from "../lib/region.ts";

/** Recognisable in logs and by secret scanners. */
const KEY_PREFIX = "tw_";

const SECRET_BYTES = 32;

/** What of a key's secret may be shown again: enough to tell keys apart, too little to guess one. */
const SHOWN_CHARS = 8;

/** By its length no key without a region is taken for one, whatever its random characters are. */
const REGIONAL_KEY = new RegExp(`^${KEY_PREFIX}(${REGIONS.join("|")})_[\\w-]{43}$`);

/** With a region, or from before keys had one; as a part of a text that is no part of a longer word. */
const KEY_IN_TEXT = new RegExp(
  `(?<![\\w-])${KEY_PREFIX}(?:(?:${REGIONS.join("|")})_)?[\\w-]{43}(?![\\w-])`,
);

/** `tw_us_` or `tw_eu_`, and 43 base64url characters: 256 random bits. */
export function generateApiKey(region: Region): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const base64 = btoa(String.fromCharCode(...bytes));
  const secret = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${KEY_PREFIX}${region}_${secret}`;
}

/** The region that a key was made in; null when it does not say, and is one of the region asked. */
export function apiKeyRegion(key: string): Region | null {
  const name = REGIONAL_KEY.exec(key)?.[1];
  return REGIONS.find((region) => region === name) ?? null;
}

/**
 * Whether what a request has in a header, a cookie or its query holds what looks like a key: twice, quoted,
 * behind a scheme, percent-encoded, or as the user or password of basic authentication.
 */
export function holdsApiKey(text: string): boolean {
  return [text, percentDecoded(text), basicCredentials(text)].some((form) =>
    KEY_IN_TEXT.test(form),
  );
}

/** Byte for byte, so that what is badly encoded elsewhere hides nothing. */
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
