import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, test } from "vitest";
import {
  type LikePattern,
  longLikeSql,
  lowerAscii,
  parseLike,
} from "../../../../src/tracing/filter/like-pattern.ts";

const database = new DatabaseSync(":memory:");

/** Returns the result of the SQL, also for patterns that are short enough for SQLite. */
function matches(pattern: string, text: string): boolean {
  const { text: condition, params } = longLikeSql("given.x", parseLike(pattern));
  const row = database
    .prepare(`SELECT ${condition} AS found FROM (SELECT ? AS x) AS given`)
    .get(...params, text);
  return row?.["found"] === 1;
}

function toRegExp({ pieces }: LikePattern): RegExp {
  const parts = pieces.map((piece) =>
    piece.map((character) => (character === null ? "." : character.replace("\\", "\\\\"))).join(""),
  );
  return new RegExp(`^${parts.join(".*")}$`, "su");
}

const text = (...units: string[]) => fc.array(fc.constantFrom(...units)).map((all) => all.join(""));

describe("a pattern that is too long for SQLite", () => {
  test("matches by its wildcards", ({ expect }) => {
    const seen = { yes: 0, no: 0 };
    const pattern = text("a", "b", "_", "%", "é", "\\%", "A");
    const property = fc.property(pattern, text("a", "b", "é", "%", "B", "😀"), (like, given) => {
      const expected = toRegExp(parseLike(lowerAscii(like))).test(lowerAscii(given));
      expect(matches(like, given), JSON.stringify([like, given])).toBe(expected);
      seen[expected ? "yes" : "no"] += 1;
    });
    fc.assert(property, { seed: 20_261_101, numRuns: 3000 });
    expect(seen.yes).toBeGreaterThan(50);
  });

  test.for([2047, 2048, 2049, 4096, 10_000])(
    "matches at boundaries between blocks of the text: %i characters in",
    (before, { expect }) => {
      const like = `%b_${"c".repeat(60)}_d%${"e".repeat(3)}__f%g`;
      for (const shift of [0, 1, 30, 64]) {
        const start = "xb".repeat(before).slice(0, before - shift);
        const piece = `b!${"c".repeat(60)}!d`;
        const end = `${"y".repeat(before)}eee!!f!g`;
        expect(matches(like, `${start}${piece}${end}`)).toBe(true);
        expect(matches(like, `${start}${piece.replace("!d", "!!d")}${end}`)).toBe(false);
        expect(matches(like, `${start}${piece}${end}!`)).toBe(false);
      }
    },
  );

  test("takes time in proportion to the text", ({ expect }) => {
    const long = "a".repeat(100_000);
    expect(matches(`%${"a_%".repeat(300)}b`, long)).toBe(false);
    expect(matches(`%${"a_%".repeat(300)}b%`, `b${long}`)).toBe(false);
  });
});
