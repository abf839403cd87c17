/**
 * Finds positions in a text that is known to be valid JSON. Nothing here parses: strings are skipped with the
 * engine's own search, so it costs a fraction of parsing.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const COMMA = 0x2c;

const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

const LONG_DIGITS = /\d{19}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Visits the members of the object at `at`. `visit` returns the end of a value. Returns the object's end. */
export function scanMembers(
  text: string,
  at: number,
  visit: (key: string, start: number) => number,
): number {
  let position = skipSpace(text, at + 1);
  while (text.charCodeAt(position) !== CLOSING_BRACE) {
    const keyEnd = skipString(text, position);
    const key: string = JSON.parse(text.slice(position, keyEnd));
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    position = afterComma(text, visit(key, start));
  }
  return position + 1;
}

/** Like `scanMembers`, for the items of the array at `at`. */
export function scanItems(text: string, at: number, visit: (start: number) => number): number {
  let position = skipSpace(text, at + 1);
  while (text.charCodeAt(position) !== CLOSING_BRACKET) {
    position = afterComma(text, visit(position));
  }
  return position + 1;
}

/** Returns the end of the value that starts at `start`. */
export function skipValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return skipString(text, start);
  if (first === OPENING_BRACE || first === OPENING_BRACKET) return skipContainer(text, start);
  let end = start;
  while (end < text.length && !endsScalar(text.charCodeAt(end))) end += 1;
  return end;
}

export function skipSpace(text: string, at: number): number {
  let position = at;
  while (isSpace(text.charCodeAt(position))) position += 1;
  return position;
}

/** Returns the first integer outside of [-2^63, 2^64), as it is written; null if all are within. */
export function firstIntegerBeyond64Bits(text: string): string | null {
  if (!LONG_DIGITS.test(text)) return null;
  let position = 0;
  while (position < text.length) {
    const quote = text.indexOf('"', position);
    const end = quote === -1 ? text.length : quote;
    const between = text.slice(position, end);
    if (LONG_DIGITS.test(between)) {
      for (const [number] of between.matchAll(NUMBER)) {
        if (isIntegerBeyond64Bits(number)) return number;
      }
    }
    if (quote === -1) return null;
    position = skipString(text, quote);
  }
  return null;
}

function isIntegerBeyond64Bits(number: string): boolean {
  if (number.length < 19 || /[.eE]/.test(number)) return false;
  // Integers that fit have at most 20 characters; a BigInt of megabytes would take seconds.
  if (number.length > 20) return true;
  const integer = BigInt(number);
  return integer < MIN_INT64 || integer > MAX_UINT64;
}

function skipString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    if (end === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
}

function skipContainer(text: string, start: number): number {
  let depth = 0;
  for (let position = start; position < text.length; position += 1) {
    const char = text.charCodeAt(position);
    if (char === QUOTE) {
      position = skipString(text, position) - 1;
    } else if (char === OPENING_BRACE || char === OPENING_BRACKET) {
      depth += 1;
    } else if (char === CLOSING_BRACE || char === CLOSING_BRACKET) {
      depth -= 1;
      if (depth === 0) return position + 1;
    }
  }
  return text.length;
}

function afterComma(text: string, at: number): number {
  const position = skipSpace(text, at);
  return text.charCodeAt(position) === COMMA ? skipSpace(text, position + 1) : position;
}

function endsScalar(char: number): boolean {
  return char === COMMA || char === CLOSING_BRACE || char === CLOSING_BRACKET || isSpace(char);
}

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09;
}
