import fc from "fast-check";
import { describe, test } from "vitest";
import { replaceUnpairedSurrogates } from "../../../../src/bulk-export/parquet/column-chunk.ts";

function replaced(text: string): string {
  const bytes = new TextEncoder().encode(text);
  replaceUnpairedSurrogates(bytes);
  return new TextDecoder().decode(bytes);
}

describe("escapes of surrogates", () => {
  test.for<[what: string, text: string, expected: string]>([
    ["a first half alone", String.raw`["\ud83d"]`, String.raw`["\ufffd"]`],
    ["a second half alone", String.raw`["\ude00"]`, String.raw`["\ufffd"]`],
    ["in capitals", String.raw`["\uD83D x \uDBFF"]`, String.raw`["\ufffd x \ufffd"]`],
    ["a pair", String.raw`["\ud83d\ude00\uD83D\uDE00"]`, String.raw`["\ud83d\ude00\uD83D\uDE00"]`],
    ["a pair turned round", String.raw`["\ude00\ud83d"]`, String.raw`["\ufffd\ufffd"]`],
    [
      "a half before a pair",
      String.raw`["\ud83d\ud83d\ude00"]`,
      String.raw`["\ufffd\ud83d\ude00"]`,
    ],
    ["a half before another escape", String.raw`["\ud83d\n"]`, String.raw`["\ufffd\n"]`],
    ["other characters", String.raw`["\ud7ff\ue000\u00d8"]`, String.raw`["\ud7ff\ue000\u00d8"]`],
    ["an escaped backslash", String.raw`["\\ud83d"]`, String.raw`["\\ud83d"]`],
    ["two of them before a half", String.raw`["\\\\\ud83d"]`, String.raw`["\\\\\ufffd"]`],
    ["none at all", `["ä🙂"]`, `["ä🙂"]`],
    ["none", "", ""],
  ])("are replaced if they are not in pairs: %s", ([, text, expected], { expect }) => {
    expect(replaced(text)).toBe(expected);
  });

  test("are replaced like JavaScript's toWellFormed does", ({ expect }) => {
    const unit = fc.constantFrom("\ud83d", "\ude00", "\\", "u", "d83d", '"', "a", "\n", "é", "😀");
    const texts = fc.array(unit, { maxLength: 12 }).map((units) => units.join(""));
    fc.assert(
      fc.property(texts, (text) => {
        expect(JSON.parse(replaced(JSON.stringify(text)))).toBe(text.toWellFormed());
      }),
      { numRuns: 2000 },
    );
  });

  test("are found after lengths that look like backslashes", ({ expect }) => {
    const half = new TextEncoder().encode(String.raw`["\ud83d"]`);
    const page = Buffer.concat([
      Uint8Array.of(0x5c, 0, 0, 0),
      half,
      Uint8Array.of(0x5c, 0x5c, 0, 0),
      half,
    ]);

    replaceUnpairedSurrogates(page);

    const clean = String.raw`["\ufffd"]`;
    expect(page.toString("latin1")).toBe(`\\\0\0\0${clean}\\\\\0\0${clean}`);
  });
});
