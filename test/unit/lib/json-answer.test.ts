import { describe, test } from "vitest";
import { jsonList, jsonText, readJsonText } from "../../../src/lib/json-answer.ts";

const MAX_BYTES = 100_000_000;

async function* listOf(items: readonly string[]): AsyncGenerator<string> {
  yield* items;
}

describe("a list", () => {
  test.for([
    ["no items", []],
    ["one item", ["1"]],
    ["several items", ["1", '"two"', '{"three":[3]}']],
  ] as const)("is a text if it has %s", async ([, items], { expect }) => {
    expect(await jsonList(listOf(items))).toBe(`[${items.join(",")}]`);
  });

  test("is a stream without split characters if it is long", async ({ expect }) => {
    // The characters have one, two, three and four bytes, so that chunks end within characters.
    const items = Array.from({ length: 20 }, (_, index) =>
      JSON.stringify(`${index}`.padEnd(index, "x") + "aé語🙂".repeat(50_000)),
    );
    const json = await jsonList(listOf(items));
    expect(json).toBeInstanceOf(ReadableStream);
    expect(await readJsonText(json, MAX_BYTES)).toBe(`[${items.join(",")}]`);
  });

  test("is read only as far as its reader has come", async ({ expect }) => {
    let asked = 0;
    let ended = false;
    async function* items(): AsyncGenerator<string> {
      try {
        for (; ; asked += 1) yield `"${"x".repeat(600_000)}"`;
      } finally {
        ended = true;
      }
    }
    const json = await jsonList(items());
    if (typeof json === "string") throw new Error("The list has no end");
    const reader = json.getReader();
    await reader.read();
    expect(asked).toBeLessThan(4);
    await reader.cancel();
    expect(ended).toBe(true);
  });

  test("fails at once if its beginning cannot be read, and aborts if a later part cannot", async ({
    expect,
  }) => {
    async function* failing(length: number): AsyncGenerator<string> {
      for (let index = 0; index < length; index += 1) yield `"${"x".repeat(600_000)}"`;
      throw new Error("not readable");
    }
    await expect(jsonList(failing(1))).rejects.toThrow("not readable");
    const json = await jsonList(failing(5));
    await expect(readJsonText(json, MAX_BYTES)).rejects.toThrow("not readable");
  });
});

test("a single value is a text or a stream, depending on its length", async ({ expect }) => {
  expect(await jsonText('{"a":1}')).toBe('{"a":1}');
  const long = JSON.stringify("語".repeat(2_000_000));
  const json = await jsonText(long);
  expect(json).toBeInstanceOf(ReadableStream);
  expect(await readJsonText(json, MAX_BYTES)).toBe(long);
});

test("no more than the limit is read", async ({ expect }) => {
  const json = await jsonText(JSON.stringify("x".repeat(2_000_000)));
  expect(await readJsonText(json, 1_000_000)).toBeNull();
});
