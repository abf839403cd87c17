import { type Sql, sql } from "../../db/sql.ts";
import { type LikePattern, lowerAscii, parseLike, type Piece } from "./like-pattern.ts";
import { longLikeSql } from "./long-like.ts";
import { MAX_LIKE_BYTES, sqlitePattern, utf8Bytes } from "./sqlite-like.ts";

/** Whether the text, in any case, is a part of that of `expression`; null for null. */
export function containsSql(expression: string, text: string): Sql {
  return sql(`instr(lower(${expression}), ?) > 0`, lowerAscii(text));
}

/** See parseLike. Null or false for null. The time it takes is linear in the length of the text. */
export function likeSql(expression: string, pattern: string): Sql {
  const parsed = parseLike(pattern);
  const literal = innerLiteral(parsed);
  if (literal !== null) return containsSql(expression, literal);
  const text = parsed.pieces.map(sqlitePattern).join("%");
  return utf8Bytes(text) <= MAX_LIKE_BYTES
    ? sql(`${expression} LIKE ? ESCAPE '\\'`, text)
    : longLikeSql(expression, parsed);
}

/** Whether a pattern is one that SQLite's own functions cannot match. */
export function isLongLike(pattern: string): boolean {
  const parsed = parseLike(pattern);
  const text = parsed.pieces.map(sqlitePattern).join("%");
  return innerLiteral(parsed) === null && utf8Bytes(text) > MAX_LIKE_BYTES;
}

/** The literal of a pattern that is one between two `%`; else null. */
function innerLiteral({ pieces }: LikePattern): string | null {
  const [before, inner, after, ...others] = pieces;
  if (before?.length !== 0 || after?.length !== 0 || others.length > 0) return null;
  const literal = inner === undefined ? null : toLiteral(inner);
  return literal === "" ? null : literal;
}

function toLiteral(piece: Piece): string | null {
  return piece.includes(null) ? null : piece.join("");
}
