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

export function apiKeyPrefix(key: string): string {
  const region = apiKeyRegion(key);
  const start = KEY_PREFIX.length + (region === null ? 0 : region.length + 1);
  return key.slice(0, start + SHOWN_CHARS);
}

/** Hex SHA-256. A key has 256 bits of its own, so a slow password hash would add nothing. */
export async function hashApiKey(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Compares two hex hashes in a time that does not depend on where they differ. */
export function sameHash(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index += 1) {
    // NaN, past the end of `right`, counts as 0.
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  }
  return difference === 0;
}
