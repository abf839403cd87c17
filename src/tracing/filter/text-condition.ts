import { type Sql, sql } from "../../db/sql.ts";
import { type LikePattern, lowerAscii, parseLike, type Piece } from "./like-pattern.ts";

/** SQLite inside a Durable Object refuses longer patterns. */
const MAX_LIKE_BYTES = 50;

/** Whether the text, in any case, is a part of that of `expression`; null for null. */
export function containsSql(expression: string, text: string): Sql {
  return sql(`instr(lower(${expression}), ?) > 0`, lowerAscii(text));
}

/** See parseLike. Null or false for null. */
export function likeSql(expression: string, pattern: string): Sql {
  const parsed = parseLike(pattern);
  const [before, inner, after, ...others] = parsed.pieces;
  if (before?.length === 0 && after?.length === 0 && others.length === 0 && inner !== undefined) {
    const literal = toLiteral(inner);
    if (literal !== null && literal !== "") return containsSql(expression, literal);
  }
  const text = toSqlitePattern(parsed);
  return new TextEncoder().encode(text).length <= MAX_LIKE_BYTES
    ? sql(`${expression} LIKE ? ESCAPE '\\'`, text)
    : longLikeSql(expression, parsed);
}

function toLiteral(piece: Piece): string | null {
  return piece.includes(null) ? null : piece.join("");
}

function toSqlitePattern({ pieces }: LikePattern): string {
  return pieces
    .map((piece) =>
      piece.map((character) => (character === null ? "_" : escapeLike(character))).join(""),
    )
    .join("%");
}

function escapeLike(character: string): string {
  return character === "%" || character === "_" || character === "\\"
    ? `\\${character}`
    : character;
}

/**
 * Literal text, after `skip` characters of any kind. With `gap` it may come later, and with `retry`
 * its first place may turn out to be the wrong one.
 */
type Step = { gap: boolean; skip: number; text: string; chars: number; retry: boolean };

/**
 * Walks over the text step by step: a row of `place` is the number of steps that are done and the
 * position behind them, counted from 1.
 */
function longLikeSql(expression: string, pattern: LikePattern): Sql {
  const { steps, open } = toSteps(pattern);
  const found = "instr(substr(subject.text, place.at + step.skip), step.text)";
  return sql(
    `EXISTS (
       WITH RECURSIVE
         subject (text) AS (SELECT lower(${expression})),
         step (number, gap, skip, text, chars, retry) AS (
           SELECT key, value ->> 'gap', value ->> 'skip', value ->> 'text', value ->> 'chars',
             value ->> 'retry'
           FROM json_each(?)
         ),
         place (done, at) AS (
           SELECT 0, 1
           UNION
           SELECT place.done + 1,
             place.at + step.skip + step.chars + iif(step.gap, ${found} - 1, 0)
           FROM place, subject, step
           WHERE step.number = place.done
             AND place.at + step.skip + step.chars <= length(subject.text) + 1
             AND iif(step.gap, ${found} > 0,
               substr(subject.text, place.at + step.skip, step.chars) = step.text)
           UNION
           SELECT place.done, place.at + ${found}
           FROM place, subject, step
           WHERE step.number = place.done AND step.retry AND ${found} > 0
             AND place.at + step.skip + step.chars <= length(subject.text)
         )
       SELECT 1 FROM place, subject
       WHERE place.done = ${open ? "?" : "? AND place.at = length(subject.text) + 1"}
     )`,
    JSON.stringify(steps),
    steps.length,
  );
}

/** `open` when the pattern ends with `%`. */
function toSteps({ pieces }: LikePattern): { steps: Step[]; open: boolean } {
  const steps = pieces.flatMap((piece, index) => pieceSteps(piece, index > 0));
  const open = pieces.length > 1 && pieces.at(-1)?.length === 0;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    // Of a literal between two gaps the first place is as good as any other.
    step.retry = step.gap && (next === undefined ? !open : !next.gap);
  }
  return { steps, open };
}

function pieceSteps(piece: Piece, afterGap: boolean): Step[] {
  const steps: Step[] = [];
  let skip = 0;
  let literal: string[] = [];
  const close = (): void => {
    if (skip === 0 && literal.length === 0) return;
    const text = lowerAscii(literal.join(""));
    const gap = afterGap && steps.length === 0;
    steps.push({ gap, skip, text, chars: literal.length, retry: false });
    skip = 0;
    literal = [];
  };
  for (const character of piece) {
    if (character !== null) {
      literal.push(character);
      continue;
    }
    if (literal.length > 0) close();
    skip += 1;
  }
  close();
  return steps;
}
