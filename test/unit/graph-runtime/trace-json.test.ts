import { AIMessage } from "@langchain/core/messages";
import { describe, test } from "vitest";
import { MAX_VALUE_CHARS, traceValueJson } from "../../../src/graph-runtime/trace-json.ts";

const circular: Record<string, unknown> = { name: "loop" };
circular["self"] = circular;
const shared = { n: 1 };

describe("traceValueJson", () => {
  test.for([
    ["plain values", { a: [1, "x", null, true] }, '{"a":[1,"x",null,true]}'],
    ["Maps and Sets", { m: new Map([["k", new Set([1])]]) }, '{"m":{"k":[1]}}'],
    ["errors", { e: new TypeError("bad") }, '{"e":{"name":"TypeError","message":"bad"}}'],
    ["dates", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["BigInts and regular expressions", [2n ** 64n, /a+/g], '["18446744073709551616","/a+/g"]'],
    ["what JSON leaves out", { f: () => 1, u: undefined }, "{}"],
    ["a cycle", circular, '{"name":"loop","self":{"result":"[Circular]"}}'],
    ["a value that is there twice", [shared, shared], '[{"n":1},{"n":1}]'],
    ["bytes, counted", { b: new Uint8Array(9) }, '{"b":"[Uint8Array of 9 bytes]"}'],
    ["a Buffer, counted", { b: Buffer.alloc(9) }, '{"b":"[Buffer of 9 bytes]"}'],
    ["an ArrayBuffer, counted", new ArrayBuffer(9), '"[ArrayBuffer of 9 bytes]"'],
  ])("writes %s", ([, value, json], { expect }) => {
    expect(traceValueJson(value)).toBe(json);
  });

  test("writes messages as LangChain's constructor records", ({ expect }) => {
    const message = new AIMessage({ content: "hi", id: "m" });
    expect(traceValueJson({ message })).toBe(JSON.stringify({ message }));
    expect(traceValueJson({ message })).toContain('"id":["langchain_core","messages","AIMessage"]');
  });

  test("returns no text for undefined and for functions", ({ expect }) => {
    expect([traceValueJson(undefined), traceValueJson(() => 1)]).toEqual([undefined, undefined]);
  });

  test("aborts when the text becomes too large", ({ expect }) => {
    const half = "x".repeat(MAX_VALUE_CHARS / 2);
    let read = 0;
    const rest = {
      get more(): string {
        read += 1;
        return half;
      },
    };
    expect(traceValueJson([half, half, rest])).toEqual({
      unrecorded: "larger than 8388608 characters",
    });
    expect(read).toBe(0);
  });

  test("does not rethrow errors of user code", ({ expect }) => {
    const value = {
      toJSON: () => {
        throw new Error("not today");
      },
    };
    expect(traceValueJson({ value })).toEqual({ unrecorded: "not serialisable: not today" });
  });

  test("does not overflow the stack", ({ expect }) => {
    let nested: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) nested = [nested];
    expect(traceValueJson(nested)).toEqual({
      unrecorded: expect.stringContaining("not serialisable: "),
    });
  });
});
