import fc from "fast-check";
import { describe, test } from "vitest";
import { parseFilter } from "../../../../src/tracing/filter/filter.ts";
import { parseSyntax } from "../../../../src/tracing/filter/syntax.ts";
import { tokenize } from "../../../../src/tracing/filter/lexer.ts";
import { expression, print } from "./model/expressions.ts";
import { refusal } from "./refusal.ts";

describe("the tokens", () => {
  test("have the place where they start", ({ expect }) => {
    expect(tokenize(' in(a.b_1, [-1.5e3,"x"])')).toEqual([
      { kind: "name", name: "in", at: 1 },
      { kind: "punctuation", mark: "(", at: 3 },
      { kind: "name", name: "a.b_1", at: 4 },
      { kind: "punctuation", mark: ",", at: 9 },
      { kind: "punctuation", mark: "[", at: 11 },
      { kind: "number", text: "-1.5e3", at: 12 },
      { kind: "punctuation", mark: ",", at: 18 },
      { kind: "string", value: "x", at: 19 },
      { kind: "punctuation", mark: "]", at: 22 },
      { kind: "punctuation", mark: ")", at: 23 },
      { kind: "end", at: 24 },
    ]);
  });

  test.for<[text: string, value: string]>([
    [`"it's"`, "it's"],
    [`'say "x"'`, 'say "x"'],
    [String.raw`"\"\'\\\/\b\f\n\r\t"`, "\"'\\/\b\f\n\r\t"],
    [String.raw`"\u00e4\ud83d\ude00"`, "ä😀"],
    [String.raw`"\ud800"`, "\uFFFD"],
    [`"\uD800"`, "\uFFFD"],
    [`"two\nlines"`, "two\nlines"],
    [`""`, ""],
  ])("are read from the string %s", ([text, value], { expect }) => {
    expect(tokenize(text)[0]).toEqual({ kind: "string", value, at: 0 });
  });
});

describe("the parser", () => {
  test("returns a tree of calls", ({ expect }) => {
    expect(parseSyntax("f(g(), [1, true], null, x)")).toEqual({
      kind: "call",
      name: "f",
      at: 0,
      end: 25,
      args: [
        { kind: "call", name: "g", args: [], at: 2, end: 4 },
        {
          kind: "list",
          at: 7,
          items: [
            { kind: "number", text: "1", at: 8 },
            { kind: "boolean", value: true, at: 11 },
          ],
        },
        { kind: "null", at: 18 },
        { kind: "name", name: "x", at: 24 },
      ],
    });
  });

  test("reads every expression that follows the grammar", ({ expect }) => {
    const property = fc.property(expression, (each) => {
      expect(() => parseFilter(print(each))).not.toThrow();
    });
    fc.assert(property, { seed: 1, numRuns: 500 });
  });

  test("refuses anything else at a place within the text", ({ expect }) => {
    const pieces = fc.constantFrom(
      ..."and( or( not( eq( in( has( search( name tags metadata latency".split(" "),
      ...'"x" \'y\' "2026-01-01" 5 -1.5 true null ( ) [ ] , \\ " \' ä _'.split(" "),
    );
    const property = fc.property(fc.array(pieces, { maxLength: 12 }), (soup) => {
      const text = `eq(${soup.join(" ")}`;
      const { position, message, expected } = refusal(`${text} ~`);
      expect(position).toBeGreaterThanOrEqual(0);
      expect(position).toBeLessThanOrEqual(text.length + 2);
      expect(message).toMatch(/^at character \d+: .{10}/);
      expect(expected).not.toBe("");
    });
    fc.assert(property, { seed: 2, numRuns: 500 });
  });
});

describe("a text that violates the syntax", () => {
  test.for<[text: string, message: string, expected: string]>([
    [
      "",
      "at character 0: expected a function such as eq but found the end of the filter",
      "a function such as eq",
    ],
    [
      '"x"',
      'at character 0: expected a function such as eq but found "x"',
      "a function such as eq",
    ],
    ["eq", "at character 2: expected '(' but found the end of the filter", "'('"],
    ['eq(name, "agent" "b")', "at character 17: expected ',' or ')' but found \"b\"", "',' or ')'"],
    [
      'eq(name, "agent"',
      "at character 16: expected ',' or ')' but found the end of the filter",
      "',' or ')'",
    ],
    [
      "eq(name,)",
      "at character 8: expected a field, function or value but found ')'",
      "a field, function or value",
    ],
    ['in(name, ["a" "b"])', "at character 14: expected ',' or ']' but found \"b\"", "',' or ']'"],
    [
      "in(name, [agent])",
      "at character 10: expected a text, number, true, false or null but found the name agent; " +
        "a text has to be in quotes",
      "a text, number, true, false or null",
    ],
    [
      "in(name, [[1]])",
      "at character 10: expected a text, number, true, false or null but found '['",
      "a text, number, true, false or null",
    ],
    [
      'eq(name, "a") eq(name, "b")',
      "at character 14: expected the end of the filter but found the name eq; " +
        "several conditions are joined by and(...) or or(...)",
      "the end of the filter",
    ],
    ["eq(name, 'agent)", "at character 9: this text has no closing '", "a closing '"],
    [
      "eq(name, $x)",
      'at character 9: expected a function, field or value but found "$"',
      "a function, field or value",
    ],
    [
      "gt(latency, 5s)",
      "at character 12: 5s is not a number; a time or duration has to be in quotes",
      "a number",
    ],
    [
      "gt(start_time, 2026-01-01T00:00:00Z)",
      "at character 15: 2026-01-01T00:00:00Z is not a number; a time or duration has to be in quotes",
      "a number",
    ],
    [
      String.raw`like(name, "50\%")`,
      String.raw`at character 14: \% is not an escape; a backslash itself is written \\`,
      String.raw`an escape: \\ \" \' \/ \b \f \n \r \t or \u with four hex digits`,
    ],
    [
      String.raw`eq(name, "\u0000")`,
      "at character 9: a text cannot contain the character U+0000",
      "a text without U+0000",
    ],
  ])("is refused: %s", ([text, message, expected], { expect }) => {
    const error = refusal(text);
    expect(error.message).toBe(message);
    expect(error.expected).toBe(expected);
    expect(error.position).toBe(Number(/\d+/.exec(message)?.[0]));
  });

  test("is refused with functions that nest more than 30 levels deep", ({ expect }) => {
    const nested = (levels: number): string =>
      `${"not(".repeat(levels - 1)}eq(is_root, true)${")".repeat(levels - 1)}`;
    expect(() => parseFilter(nested(30))).not.toThrow();
    expect(refusal(nested(31)).message).toBe(
      "at character 120: functions are nested more than 30 levels deep",
    );
    expect(refusal("not(".repeat(12_000)).position).toBe(120);
  });

  test("is refused with more than 50,000 characters", ({ expect }) => {
    expect(() => parseFilter('eq(name, "x")'.padEnd(50_000))).not.toThrow();
    expect(refusal('eq(name, "x")'.padEnd(50_001)).message).toBe(
      "at character 50000: the filter has 50001 characters; at most 50000 are allowed",
    );
  });
});
