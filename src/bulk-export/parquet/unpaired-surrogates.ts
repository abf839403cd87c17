const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const ESCAPE_CHARS = 6;

/** `\ufffd` without its beginning. */
const REPLACEMENT = new TextEncoder().encode("fffd");

/**
 * Turns escapes of unpaired surrogates in JSON texts into those of U+FFFD, in place and without a change
 * of length. Such escapes come of texts that were cut between the halves of a character; JSON's grammar
 * allows them, but readers of columns of JSON refuse the whole file. Each text may have its length of
 * four bytes before it.
 */
export function replaceUnpairedSurrogates(bytes: Uint8Array): void {
  let at = firstEscape(bytes);
  if (at === -1) return;
  // Which backslashes escape others is told from the first of a row of them.
  while (bytes[at - 1] === BACKSLASH) at -= 1;
  while (at < bytes.length) {
    if (bytes[at] !== BACKSLASH) {
      at += 1;
      continue;
    }
    const half = surrogateAt(bytes, at);
    if (half === null) {
      at += 2;
    } else if (half === "high" && surrogateAt(bytes, at + ESCAPE_CHARS) === "low") {
      at += 2 * ESCAPE_CHARS;
    } else {
      bytes.set(REPLACEMENT, at + 2);
      at += ESCAPE_CHARS;
    }
  }
}

/** Where an escape of U+D000 or more begins, or looks as if it did. */
function firstEscape(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const places = [String.raw`\ud`, String.raw`\uD`].map((start) => text.indexOf(start));
  const found = places.filter((place) => place !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}

function surrogateAt(bytes: Uint8Array, at: number): "high" | "low" | null {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== LOWER_U) return null;
  const digits = String.fromCharCode(...bytes.subarray(at + 2, at + ESCAPE_CHARS));
  if (/^d[89ab]/i.test(digits)) return "high";
  return /^d[c-f]/i.test(digits) ? "low" : null;
}
