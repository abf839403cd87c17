/** SQLite inside a Durable Object refuses longer patterns. */
export const MAX_LIKE_BYTES = 50;

/** One `%`-free piece: code points, and null for each `_`. */
export type Piece = (string | null)[];

/** The pieces between the `%` of a pattern: at least one, empty where a `%` is first or last. */
export type LikePattern = { pieces: Piece[] };

/**
 * `%` is any text, `_` one character. A backslash before `%`, `_` or a backslash makes it an
 * ordinary character; any other backslash is one itself. ASCII letters match in both cases.
 */
export function parseLike(pattern: string): LikePattern {
  const pieces: Piece[] = [[]];
  const characters = Array.from(pattern);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    const next = characters[at + 1];
    if (character === "\\" && (next === "%" || next === "_" || next === "\\")) {
      pieces.at(-1)?.push(next);
      at += 1;
    } else if (character === "%") {
      // Several in a row are as one.
      if (pieces.length === 1 || pieces.at(-1)?.length !== 0) pieces.push([]);
    } else {
      pieces.at(-1)?.push(character === "_" ? null : character);
    }
  }
  return { pieces };
}

/** As SQLite's lower(), which leaves all but ASCII as it is. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The operand of SQLite's LIKE, with a backslash as its ESCAPE, that matches what the piece does. */
export function sqlitePattern(piece: Piece): string {
  return piece.map(sqliteCharacter).join("");
}

/** A piece, or a part of one: where it begins in that piece, in characters, and how many it has. */
export type Chunk = { from: number; chars: number; pattern: string };

/** Cuts a piece into chunks whose patterns have `maxBytes` at most. */
export function toChunks(piece: Piece, maxBytes: number): Chunk[] {
  const chunks: Chunk[] = [];
  let bytes = 0;
  for (const [from, character] of piece.entries()) {
    const pattern = sqliteCharacter(character);
    const size = utf8Bytes(pattern);
    const last = chunks.at(-1);
    if (last === undefined || bytes + size > maxBytes) {
      chunks.push({ from, chars: 1, pattern });
      bytes = size;
    } else {
      last.chars += 1;
      last.pattern += pattern;
      bytes += size;
    }
  }
  return chunks;
}

export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

function sqliteCharacter(character: string | null): string {
  if (character === null) return "_";
  return character === "%" || character === "_" || character === "\\"
    ? `\\${character}`
    : character;
}
