import { type Sql, sql } from "../../db/sql.ts";

/** Maximum bytes of a pattern that SQLite inside a Durable Object accepts. */
export const MAX_LIKE_BYTES = 50;

/** A piece of a pattern without `%`: code points, and null for each `_`. */
export type LikePiece = (string | null)[];

/** The pieces between the `%` of a pattern: at least one. Those before a leading and after a trailing `%` are empty. */
export type LikePattern = { pieces: LikePiece[] };

/**
 * Parses a pattern. `%` matches any text and `_` one character. A backslash before `%`, `_` or a backslash
 * makes it an ordinary character; any other backslash stands for itself. The case of ASCII letters is ignored.
 */
export function parseLike(pattern: string): LikePattern {
  const pieces: LikePiece[] = [[]];
  const characters = Array.from(pattern);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    const next = characters[at + 1];
    if (character === "\\" && (next === "%" || next === "_" || next === "\\")) {
      pieces.at(-1)?.push(next);
      at += 1;
    } else if (character === "%") {
      // Several `%` in a row mean the same as one.
      if (pieces.length === 1 || pieces.at(-1)?.length !== 0) pieces.push([]);
    } else {
      pieces.at(-1)?.push(character === "_" ? null : character);
    }
  }
  return { pieces };
}

/** Lowers the case like SQLite's lower(), which changes only ASCII letters. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the operand of SQLite's LIKE, with a backslash as its ESCAPE, that matches the same as the piece. */
export function sqlitePattern(piece: LikePiece): string {
  return piece.map(sqliteCharacter).join("");
}

/** A piece, or a part of one: its position in the piece and its length, both in characters. */
type Chunk = { from: number; chars: number; pattern: string };

/** Splits a piece into chunks whose patterns have at most `maxBytes` bytes. */
function toChunks(piece: LikePiece, maxBytes: number): Chunk[] {
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

/** Characters of a text that are searched at once: SQLite needs time proportional to a position to reach it. */
const BLOCK_CHARS = 2048;

/** Values of `hit` for what matches at `at`: the whole step, or only its literal. */
const WHOLE = -1;
const LITERAL_ONLY = -2;

/** Maximum number of patterns that every match contains. They are tried first: SQLite's LIKE is by far the fastest. */
const MAX_PARTS = 8;

/**
 * A piece between two `%`, without its leading `_`. `text` is the literal that it begins with, `chunks`
 * are the tests of its rest, null if there is none. `advance` is the distance in characters from a match
 * to the first place where the next piece may match.
 */
type Step = { text: string; chunks: ChunkTest[] | null; advance: number };

/** Position and number of the characters that a pattern of LIKE has to match. */
type ChunkTest = [from: number, chars: number, pattern: string];

/**
 * Tests a pattern that is longer than SQLite accepts. The text before the first `%` and after the last
 * one is compared in place. The pieces in between are searched for from left to right, each at the first
 * place after the previous one: if there is a match, there is one of this kind, so nothing is tried twice.
 *
 * The text is searched block by block. `state` packs the number of completed steps and the place to
 * continue from, counted from the start of the previous block. Within a block, a row of `place` stands at
 * character `at`; `hit` is the distance from there to the literal of the next step, null while that was
 * not searched for. At the place of the literal, a second row says whether the rest of the step matches.
 */
export function longLikeSql(expression: string, { pieces }: LikePattern): Sql {
  const head = pieces[0] ?? [];
  const tail = pieces.length > 1 ? (pieces.at(-1) ?? []) : [];
  const ends = head.length + tail.length;
  const { skip, steps, longest } = toSteps(pieces.slice(1, -1));
  const first = (text: string): string => `substr(${text}, 1, ${BLOCK_CHARS + longest})`;
  const rest = (text: string): string => `substr(${text}, ${BLOCK_CHARS + 1})`;
  const step = (member: string): string => `(walk.steps ->> ('$[' || place.done || '].${member}'))`;
  const found = "(place.at + place.hit - 1)";
  const matches = `(${step("chunks")} IS NULL OR NOT EXISTS (
    SELECT 1 FROM json_each(${step("chunks")}) AS c
    WHERE ${differs("walk.block", `${found} + `, "c")}))`;
  return sql(
    `EXISTS (
       WITH RECURSIVE
         given (text, pattern) AS (SELECT lower(${expression}), ?),
         walk (state, block, rest, steps) AS (
           SELECT ${packed("0", String(skip + 1 + BLOCK_CHARS))}, ${first("inner")}, inner, steps
           FROM (
             SELECT substr(text, ${head.length + 1}, length(text) - ${ends}) AS inner,
               pattern -> '$.steps' AS steps
             FROM given WHERE length(text) ${pieces.length === 1 ? "=" : ">="} ${ends}
               AND NOT EXISTS (SELECT 1 FROM json_each(pattern, '$.parts') AS p
                 WHERE text NOT LIKE p.value ESCAPE '\\')
               AND NOT EXISTS (SELECT 1 FROM json_each(pattern, '$.ends') AS e
                 WHERE ${differs("given.text", "", "e")})
           )
           UNION ALL
           SELECT (
             WITH RECURSIVE place (done, at, hit) AS (
               SELECT walk.state >> 32, (walk.state & 0xffffffff) - ${BLOCK_CHARS}, NULL
               UNION ALL
               SELECT done, at, instr(substr(walk.block, at), ${step("text")})
               FROM place WHERE hit IS NULL AND done < ${steps.length} AND at <= ${BLOCK_CHARS}
               UNION ALL
               SELECT done, iif(hit = 0, ${BLOCK_CHARS + 1}, ${found}), NULL
               FROM place WHERE hit = 0 OR ${found} > ${BLOCK_CHARS}
               UNION ALL
               SELECT done, ${found}, iif(${matches}, ${WHOLE}, ${LITERAL_ONLY})
               FROM place WHERE hit > 0 AND ${found} <= ${BLOCK_CHARS}
               UNION ALL
               SELECT done + (hit = ${WHOLE}),
                 at + iif(hit = ${WHOLE}, ${step("advance")}, 1), NULL
               FROM place WHERE hit < 0
             )
             SELECT ${packed("done", "at")} FROM place
             WHERE hit IS NULL AND (done = ${steps.length} OR at > ${BLOCK_CHARS}) LIMIT 1
           ), ${first(rest("rest"))}, ${rest("rest")}, steps
           FROM walk WHERE walk.state >> 32 < ${steps.length} AND walk.rest <> ''
         )
       SELECT 1 FROM walk
       WHERE state >> 32 = ${steps.length}
         AND (state & 0xffffffff) - ${BLOCK_CHARS} <= length(rest) + 1
     )`.replaceAll(/\s+/g, " "),
    JSON.stringify({ steps, ends: endTests(head, tail), parts: partsOf(pieces) }),
  );
}

function packed(done: string, at: string): string {
  return `(${done} << 32) + ${at}`;
}

function differs(text: string, offset: string, test: string): string {
  const [from, chars, pattern] = [0, 1, 2].map((index) => `(${test}.value ->> ${index})`);
  return `substr(${text}, ${offset}${from}, ${chars}) NOT LIKE ${pattern} ESCAPE '\\'`;
}

/** Returns tests of the text before the first `%`, counted from the start, and after the last, from the end. */
function endTests(head: LikePiece, tail: LikePiece): ChunkTest[] {
  const tests = (piece: LikePiece, start: number): ChunkTest[] =>
    toChunks(piece, MAX_LIKE_BYTES).map((chunk) => toTest(chunk, start));
  return [...tests(head, 1), ...tests(tail, -tail.length)];
}

function toTest({ from, chars, pattern }: Chunk, start: number): ChunkTest {
  return [start + from, chars, pattern];
}

/** Returns the longest parts, because they exclude the most texts. */
function partsOf(pieces: readonly LikePiece[]): string[] {
  return pieces
    .flatMap((piece) => toChunks(piece, MAX_LIKE_BYTES - 2))
    .toSorted((left, right) => right.chars - left.chars)
    .slice(0, MAX_PARTS)
    .map(({ pattern }) => `%${pattern}%`);
}

/**
 * `skip` is the minimum number of characters before the first step: a `_` after a `%` can be moved before
 * it. `longest` is the number of characters of the longest piece.
 */
function toSteps(pieces: readonly LikePiece[]): { skip: number; steps: Step[]; longest: number } {
  const steps: Step[] = [];
  let skip = 0;
  let longest = 0;
  for (const piece of pieces) {
    const first = piece.findIndex((character) => character !== null);
    const own = first === -1 ? [] : piece.slice(first);
    const skipped = piece.length - own.length;
    const before = steps.at(-1);
    if (before === undefined) skip += skipped;
    else before.advance += skipped;
    if (own.length > 0) steps.push(toStep(own));
    longest = Math.max(longest, own.length);
  }
  return { skip, steps, longest };
}

function toStep(piece: LikePiece): Step {
  const end = piece.indexOf(null);
  const literal = end === -1 ? piece : piece.slice(0, end);
  const rest = piece.slice(literal.length);
  const chunks = toChunks(rest, MAX_LIKE_BYTES).map((chunk) => toTest(chunk, literal.length));
  return {
    text: lowerAscii(literal.join("")),
    chunks: chunks.length === 0 ? null : chunks,
    advance: piece.length,
  };
}
