const NUL = /\0/g;

/**
 * The text's first characters, in UTF-16 units but without half of a surrogate pair at the end, and
 * with U+FFFD for NUL, at which SQLite's functions would stop.
 */
export function clipText(text: string, maxChars: number): string {
  const clipped = text.length <= maxChars ? text : text.slice(0, cutBefore(text, maxChars));
  return clipped.includes("\0") ? clipped.replaceAll(NUL, "\uFFFD") : clipped;
}

function cutBefore(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
