import type { Piece } from "./like-pattern.ts";

/** SQLite inside a Durable Object refuses longer patterns. */
export const MAX_LIKE_BYTES = 50;

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
