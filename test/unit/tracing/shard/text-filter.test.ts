import fc from "fast-check";
import { test } from "vitest";
import { TextFilter, textTest } from "../../../../src/tracing/shard/segments/text-filter.ts";

/** Returns words that hardly repeat, each of which is a number in base 36. */
function words(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, n) => (from + (n + 1) * 7_919_777).toString(36));
}

function packed(...texts: string[]): Uint8Array {
  const filter = new TextFilter();
  for (const text of texts) filter.add(text);
  const bits = filter.packed();
  if (bits === null) throw new Error("The filter is full");
  return bits;
}

const contains = (text: string) => textTest({ kind: "text", text });

test("a part of a text is found, ignoring the case of ASCII letters", ({ expect }) => {
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 300 }), { minLength: 1 });
  const property = fc.property(texts, fc.nat(), fc.nat(), fc.nat(), (all, one, from, size) => {
    const text = all[one % all.length] ?? "";
    const characters = Array.from(text);
    const start = from % Math.max(characters.length, 1);
    const part = characters.slice(start, start + 1 + (size % 40)).join("");
    for (const asked of [part, part.replace(/[A-Z]/g, (letter) => letter.toLowerCase())]) {
      expect(contains(asked)(packed(...all))).toBe(true);
    }
  });
  fc.assert(property, { seed: 20_261_102, numRuns: 300 });
});

test("a filter has the size that its texts need, and refuses most words that are not in them", ({
  expect,
}) => {
  const sizes = [10, 2_000, 20_000].map((count) => packed(words(count).join(" ")).length);
  expect(sizes).toEqual([1024, 8192, 65_536]);
  for (const count of [10, 2_000, 20_000]) {
    const bits = packed(words(count).join(" "));
    expect(words(count).every((word) => contains(word)(bits))).toBe(true);
    const inVain = words(1_000, 3_333_333).filter((word) => contains(word)(bits)).length;
    expect(inVain).toBeLessThan(60);
  }
});

test("a packed filter can be extended", ({ expect }) => {
  const first = packed("bananas and apples");
  const again = new TextFilter(first.slice().buffer);
  expect(again.add("Bananas")).toBe(false);
  expect(again.add("walnuts")).toBe(true);
  const both = again.packed() ?? new Uint8Array();
  expect([first, both].map(contains("walnuts"))).toEqual([false, true]);
  expect([first, both].map(contains("nas and app"))).toEqual([true, true]);
});

test("a filter that would match nearly everything is discarded", ({ expect }) => {
  const filter = new TextFilter();
  const many = words(150_000);
  for (let at = 0; at < many.length && !filter.isFull; at += 1000) {
    filter.add(many.slice(at, at + 1000).join(" "));
  }
  expect(filter.isFull).toBe(true);
  expect(filter.packed()).toBeNull();
});

test("all required texts must match, and one of several alternatives", ({ expect }) => {
  const bits = packed("bananas and apples");
  const text = (word: string) => ({ kind: "text" as const, text: word });
  const of = (kind: "all" | "any", ...all: string[]) => textTest({ kind, of: all.map(text) })(bits);
  expect([of("all", "bananas", "apples"), of("all", "bananas", "walnuts")]).toEqual([true, false]);
  expect([of("any", "walnuts", "apples"), of("any", "walnuts", "grapes")]).toEqual([true, false]);
});
