import { AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, test } from "vitest";
import {
  toWire,
  toWireJson,
  UnserialisableValueError,
} from "../../../src/graph-runtime/wire-json.ts";

describe("toWireJson", () => {
  test("writes every JSON value like JSON.stringify", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(toWireJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  test("flattens messages at any depth", ({ expect }) => {
    const human = new HumanMessage({ content: "hi", id: "1" });
    expect(toWire({ nested: [{ human }] })).toEqual({
      nested: [
        {
          human: {
            content: "hi",
            additional_kwargs: {},
            response_metadata: {},
            id: "1",
            type: "human",
          },
        },
      ],
    });
  });

  test("gives chunks the type of their message", ({ expect }) => {
    const chunk = new AIMessageChunk({ content: "a", id: "1" });
    expect(toWire(chunk)).toMatchObject({ type: "ai", content: "a", tool_call_chunks: [] });
  });

  test("keeps the result of a tool message", ({ expect }) => {
    const message = new ToolMessage({ content: "4", tool_call_id: "call", name: "add" });
    expect(toWire(message)).toMatchObject({ type: "tool", tool_call_id: "call", name: "add" });
  });

  test("writes dates, maps, sets, errors and bytes in a JSON form", ({ expect }) => {
    const value = {
      date: new Date(0),
      map: new Map([["a", 1]]),
      set: new Set([1, 2]),
      error: new TypeError("no"),
      bytes: new Uint8Array([1, 255]),
    };
    expect(JSON.parse(toWireJson(value))).toEqual({
      date: "1970-01-01T00:00:00.000Z",
      map: { a: 1 },
      set: [1, 2],
      error: { name: "TypeError", message: "no" },
      bytes: [1, 255],
    });
  });

  test("keeps a __proto__ key as data", ({ expect }) => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    expect(toWireJson(value)).toBe('{"__proto__":{"polluted":true}}');
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("accepts an object that appears twice without containing itself", ({ expect }) => {
    const shared = { x: 1 };
    expect(toWireJson([shared, shared])).toBe('[{"x":1},{"x":1}]');
  });

  test.for([
    ["a BigInt", { a: { b: 1n } }, "a.b"],
    ["a circular reference", circular(), "items[0].self"],
  ] as const)("names the place of %s", ([what, value, path], { expect }) => {
    expect(() => toWireJson(value)).toThrow(UnserialisableValueError);
    expect(() => toWireJson(value)).toThrow(
      `The value at "${path}" cannot be serialised: it is ${what}.`,
    );
  });

  test("refuses a nesting that would overflow a reader's stack", ({ expect }) => {
    let value: unknown = 0;
    for (let depth = 0; depth < 5000; depth += 1) value = [value];
    expect(() => toWireJson(value)).toThrow("nested deeper than 1000");
  });
});

function circular(): unknown {
  const item: Record<string, unknown> = {};
  const value = { items: [item] };
  item["self"] = value;
  return value;
}
