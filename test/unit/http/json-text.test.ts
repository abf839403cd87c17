import { describe, test } from "vitest";
import { parseJson } from "../../../src/http/json-text.ts";

function parse(text: string): unknown {
  return parseJson(new TextEncoder().encode(text));
}

function detailOf(parse: () => unknown): unknown {
  try {
    parse();
  } catch (error) {
    return error instanceof Error && "detail" in error ? error.detail : error;
  }
  return null;
}

describe("parseJson", () => {
  test("treats __proto__ like any other key", ({ expect }) => {
    const value = parse('{"__proto__":{"admin":true}}');
    expect(Object.keys(Object(value))).toEqual(["__proto__"]);
    expect(Object(value).admin).toBeUndefined();
  });

  test("reports where the text ends too early", ({ expect }) => {
    expect(detailOf(() => parse('{"a":'))).toEqual([
      {
        loc: ["body", 5],
        msg: "JSON decode error: Unexpected end of JSON input",
        type: "json_invalid",
      },
    ]);
  });

  test("reports where the text is invalid", ({ expect }) => {
    expect(detailOf(() => parse('{"a":1,}'))).toMatchObject([{ loc: ["body", 7] }]);
  });

  test("refuses bytes that are not UTF-8", ({ expect }) => {
    expect(detailOf(() => parseJson(new Uint8Array([0x22, 0xff, 0x22])))).toMatchObject([
      { loc: ["body"], type: "json_invalid" },
    ]);
  });

  test("accepts 500 levels and refuses one more", ({ expect }) => {
    const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect(detailOf(() => parse(nested(500)))).toBeNull();
    expect(detailOf(() => parse(nested(501)))).toMatchObject([{ type: "json_invalid" }]);
    expect(detailOf(() => parse(nested(200_000)))).toMatchObject([{ type: "json_invalid" }]);
  });
});
