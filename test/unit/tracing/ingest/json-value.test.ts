import fc from "fast-check";
import { describe, test } from "vitest";
import {
  scanItems,
  scanMembers,
  skipSpace,
  skipValue,
} from "../../../../src/tracing/model/json-text.ts";
import { InvalidJson, parseJsonValue } from "../../../../src/tracing/ingest/decode/json-value.ts";
import { thrown, utf8 } from "./support/bytes.ts";
import { jsonText } from "./support/json-texts.ts";

function refusal(text: string | Uint8Array): string {
  const error = thrown(() => parseJsonValue(typeof text === "string" ? utf8(text) : text));
  if (!(error instanceof InvalidJson)) throw error;
  return error.message;
}

function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

describe("parseJsonValue", () => {
  test("returns the value and its original text", ({ expect }) => {
    const text = ' {"a": [1.0, 12345678901234567890, "\\u00e9"]}\n';
    expect(parseJsonValue(utf8(text))).toEqual({
      value: { a: [1, 12345678901234567000, "é"] },
      text,
    });
  });

  test("keeps the text of any document, including large integers", ({ expect }) => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(parseJsonValue(utf8(text))).toEqual({ value: JSON.parse(text), text });
      }),
    );
  });

  test("drops a byte order mark", ({ expect }) => {
    expect(parseJsonValue(new Uint8Array([0xef, 0xbb, 0xbf, 0x31]))).toEqual({
      value: 1,
      text: "1",
    });
  });

  test("refuses invalid JSON and invalid UTF-8", ({ expect }) => {
    expect(refusal('{"a":')).toBe("is not JSON: Unexpected end of JSON input");
    expect(refusal("")).toBe("is not JSON: Unexpected end of JSON input");
    expect(refusal('{"a":NaN}')).toMatch(/^is not JSON: /);
    expect(refusal(new Uint8Array([0x22, 0xff, 0x22]))).toBe("is not UTF-8");
    expect(refusal(new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe("is not UTF-8");
  });

  test("accepts 500 levels and refuses more", ({ expect }) => {
    expect(parseJsonValue(utf8(nested(500))).text).toBe(nested(500));
    expect(parseJsonValue(utf8(`{"a":${nested(499)},"b":${nested(499)}}`)).text.length).toBe(2007);
    expect(refusal(nested(501))).toBe("is nested deeper than 500 levels");
    expect(refusal(nested(1000))).toBe("is nested deeper than 500 levels");
    expect(refusal(`{"a":1,"b":[{},${nested(499)}]}`)).toBe("is nested deeper than 500 levels");
    expect(refusal('{"a":'.repeat(100_000) + "1" + "}".repeat(100_000))).toBe(
      "is nested deeper than 500 levels",
    );
  });

  test("accepts integers of 64 bits, signed or not, and refuses larger ones", ({ expect }) => {
    for (const integer of ["-9223372036854775808", "9223372036854775808", "18446744073709551615"]) {
      expect(parseJsonValue(utf8(`[${integer}]`)).text).toBe(`[${integer}]`);
    }
    for (const integer of [
      "-9223372036854775809",
      "18446744073709551616",
      "100000000000000000000",
    ]) {
      expect(refusal(`{"a": [1, ${integer}]}`)).toBe(
        `has the integer ${integer}, which is outside of 64 bits`,
      );
    }
    expect(refusal("9".repeat(10_000_000))).toBe(
      `has the integer ${"9".repeat(40)}..., which is outside of 64 bits`,
    );
  });

  test("ignores long digits in strings, fractions and exponents", ({ expect }) => {
    for (const text of [
      '"99999999999999999999"',
      String.raw`{"a\"99999999999999999999":"\\\"99999999999999999999\\"}`,
      "0.99999999999999999999",
      "99999999999999999999.5",
      "99999999999999999999e1",
      "1e-00000000000000000000001",
    ]) {
      expect(parseJsonValue(utf8(text)).text).toBe(text);
    }
    expect(refusal(String.raw`["\\",99999999999999999999]`)).toMatch(/outside of 64 bits/);
  });

  test("accepts strings of 10 MB, and of nothing but escapes", ({ expect }) => {
    const plain = JSON.stringify({ a: "x".repeat(10_000_000) });
    expect(parseJsonValue(utf8(plain)).text.length).toBe(plain.length);
    const escapes = JSON.stringify({ digits: "9".repeat(20), a: '\\"'.repeat(2_500_000), n: 1 });
    expect(parseJsonValue(utf8(escapes)).text.length).toBe(escapes.length);
  });
});

describe("skipValue", () => {
  test("finds the end of any value", ({ expect }) => {
    fc.assert(
      fc.property(jsonText, fc.constantFrom("", ",1]", "}", " \n}"), (text, behind) => {
        expect(skipValue(text + behind, 0)).toBe(text.length);
      }),
    );
  });

  test("finds members and items with their texts", ({ expect }) => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), jsonText), fc.array(jsonText), (members, items) => {
        const object = `{ ${Object.entries(members)
          .map(([key, value]) => `${JSON.stringify(key)} : ${value}`)
          .join(" , ")} }`;
        const foundMembers: [string, string][] = [];
        const end = scanMembers(object, 0, (key, start) => {
          const valueEnd = skipValue(object, start);
          foundMembers.push([key, object.slice(start, valueEnd)]);
          return valueEnd;
        });
        expect(end).toBe(object.length);
        expect(foundMembers).toEqual(Object.entries(members));

        const list = `  [${items.join(",")}]`;
        const foundItems: string[] = [];
        scanItems(list, skipSpace(list, 0), (start) => {
          const itemEnd = skipValue(list, start);
          foundItems.push(list.slice(start, itemEnd));
          return itemEnd;
        });
        expect(foundItems).toEqual(items);
      }),
    );
  });
});
