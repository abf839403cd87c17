/**
 * Maximum bytes of a part: SQLite in a Durable Object takes at most 2 MB per row, and the other columns need room,
 * too.
 */
const MAX_PART_BYTES = 1_800_000;

/** UTF-8 needs at most three bytes for each UTF-16 code unit. */
const MAX_PART_CHARS = MAX_PART_BYTES / 3;

/** Splits text into parts that fit into a row; never inside a surrogate pair. */
export function textParts(text: string): string[] {
  if (text.length <= MAX_PART_CHARS) return [text];
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_PART_CHARS, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

export function byteParts(bytes: Uint8Array): Uint8Array[] {
  if (bytes.byteLength <= MAX_PART_BYTES) return [bytes];
  const parts: Uint8Array[] = [];
  for (let start = 0; start < bytes.byteLength; start += MAX_PART_BYTES) {
    parts.push(bytes.subarray(start, start + MAX_PART_BYTES));
  }
  return parts;
}
