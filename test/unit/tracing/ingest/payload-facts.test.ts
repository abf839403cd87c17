import fc from "fast-check";
import { describe, test } from "vitest";
import {
  leavesOf,
  metadataLeavesOf,
  threadIdOf,
} from "../../../../src/tracing/model/text-leaves.ts";
import {
  factsOf,
  firstTokenTime,
  previewOf,
} from "../../../../src/tracing/ingest/decode/run-payloads.ts";

function deep(levels: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

describe("leavesOf", () => {
  test("collapses arrays, skips null, and keeps the order of the document", ({ expect }) => {
    const value = {
      messages: [
        { role: "user", content: "hi" },
        { role: "ai", content: [{ text: "yes" }, null] },
      ],
      count: 3,
      ratio: 1.5,
      flag: false,
      none: null,
      empty: {},
      matrix: [[1, 2], [[3]]],
    };
    expect(leavesOf(value)).toEqual([
      ["messages.role", "user"],
      ["messages.content", "hi"],
      ["messages.role", "ai"],
      ["messages.content.text", "yes"],
      ["count", "3"],
      ["ratio", "1.5"],
      ["flag", "false"],
      ["matrix", "1"],
      ["matrix", "2"],
      ["matrix", "3"],
    ]);
  });

  test("gives a lone value, and the items of a lone list, an empty path", ({ expect }) => {
    expect(leavesOf("text")).toEqual([["", "text"]]);
    expect(leavesOf([1, "b", { c: 2 }])).toEqual([
      ["", "1"],
      ["", "b"],
      ["c", "2"],
    ]);
    expect(leavesOf(null)).toEqual([]);
  });

  test("returns the first 100, with 250 characters of each and no split pair", ({ expect }) => {
    const many = Array.from({ length: 200 }, (_, index) => ({ [`k${index}`]: index }));
    const leaves = leavesOf(many);
    expect(leaves.length).toBe(100);
    expect(leaves.at(-1)).toEqual(["k99", "99"]);
    expect(leavesOf({ a: "x".repeat(300) })).toEqual([["a", "x".repeat(250)]]);
    expect(leavesOf({ a: `${"x".repeat(249)}😀y` })).toEqual([["a", "x".repeat(249)]]);
    expect(leavesOf({ a: `${"x".repeat(248)}😀y` })).toEqual([["a", `${"x".repeat(248)}😀`]]);
  });

  test("replaces NUL and shortens paths", ({ expect }) => {
    expect(leavesOf({ ["k".repeat(300)]: "a\0b" })).toEqual([["k".repeat(250), "a\uFFFDb"]]);
  });

  test("is safe against depth and against endless empty lists", ({ expect }) => {
    expect(leavesOf(deep(100_000, "x"))).toEqual([]);
    expect(leavesOf(deep(100, "x"))).toEqual([[Array(100).fill("a").join("."), "x"]]);
    const nothing = Array.from({ length: 1_000_000 }, () => null);
    expect(leavesOf({ nothing, late: "x" })).toEqual([]);
  });

  test("treats __proto__ like any other key", ({ expect }) => {
    expect(leavesOf(JSON.parse('{"__proto__":{"a":1}}'))).toEqual([["__proto__.a", "1"]]);
  });
});

describe("previewOf", () => {
  test.for([
    [
      {
        messages: [
          { role: "user", content: "first" },
          { role: "ai", content: "last" },
        ],
      },
      "last",
    ],
    [{ messages: [[{ type: "human", content: "nested" }]] }, "nested"],
    [{ messages: [["user", "a pair"]] }, "a pair"],
    [{ messages: [{ lc: 1, kwargs: { content: "serialised" } }] }, "serialised"],
    [{ messages: [{ type: "human", data: { content: "stored" } }] }, "stored"],
    [
      { messages: [{ content: [{ type: "text", text: "one" }, { type: "image" }, "two"] }] },
      "one\ntwo",
    ],
    [
      { messages: [{ content: "", tool_calls: [{ name: "search" }] }], more: 1 },
      '{"content":"","tool_calls":[{"name":"search"}]}',
    ],
    [{ messages: [] }, '{"messages":[]}'],
    [
      { generations: [[{ text: "generated", message: { kwargs: { content: "x" } } }]] },
      "generated",
    ],
    [{ generations: [[{ text: "", message: { kwargs: { content: "in it" } } }]] }, "in it"],
    [{ choices: [{ message: { role: "assistant", content: "chosen" } }], usage: {} }, "chosen"],
    [{ choices: [{ delta: { content: "part" } }] }, "part"],
    [{ role: "assistant", content: "a message" }, "a message"],
    [{ input: "question" }, "question"],
    [{ output: { messages: [{ content: "wrapped" }] } }, "wrapped"],
    ["lone", "lone"],
    ["", ""],
    [{}, "{}"],
    [[1, "a", null, { b: [true] }], '[1,"a",null,{"b":[true]}]'],
    [{ a: 1, b: "x" }, '{"a":1,"b":"x"}'],
    [{ a: { b: 1, c: 2 } }, '{"a":{"b":1,"c":2}}'],
    [5, "5"],
    [null, null],
    [undefined, null],
  ] as const)("is made of %j", ([value, preview], { expect }) => {
    expect(previewOf(value)).toBe(preview);
  });

  test("has at most 300 characters, without a lone surrogate or NUL", ({ expect }) => {
    expect(previewOf("x".repeat(301))).toBe("x".repeat(300));
    expect(previewOf(`${"x".repeat(299)}😀`)).toBe("x".repeat(299));
    expect(previewOf({ input: "a\0b" })).toBe("a\uFFFDb");
    const long = { a: 1, b: Array.from({ length: 1000 }, (_, index) => index) };
    expect(previewOf(long)).toBe(JSON.stringify(long).slice(0, 300));
  });

  test("is the start of the compact JSON of other values", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (list) => {
        const preview = previewOf(list) ?? "";
        const json = JSON.stringify(list);
        if (json.length <= 250) expect(preview).toBe(json);
        else expect(preview.length).toBeLessThanOrEqual(300);
      }),
    );
  });

  test("is safe against depth", ({ expect }) => {
    expect(previewOf(deep(100_000, "x"))).toBe('{"a":'.repeat(60));
  });
});

describe("firstTokenTime", () => {
  test("is the time of the first new_token event", ({ expect }) => {
    const events = [
      { name: "start", time: "2026-08-01T12:00:00Z" },
      { name: "new_token", time: "2026-08-01T12:00:00.25Z" },
      { name: "new_token", time: "2026-08-01T12:00:01Z" },
    ];
    expect(firstTokenTime(events)).toBe(1_785_585_600_250_000);
    expect(firstTokenTime([{ name: "new_token", time: 1_785_585_600_001 }])).toBe(
      1_785_585_600_001_000,
    );
  });

  test("is null if there is none, or it has no valid time", ({ expect }) => {
    for (const events of [
      [],
      null,
      "new_token",
      { name: "new_token", time: 1 },
      [{ name: "end", time: 1 }, null, 3],
      [{ name: "new_token" }],
      [{ name: "new_token", time: "soon" }],
    ]) {
      expect(firstTokenTime(events)).toBeNull();
    }
  });
});

describe("metadataLeavesOf", () => {
  test("flattens the metadata", ({ expect }) => {
    const extra = {
      runtime: { sdk: "js" },
      metadata: { user: "u1", tier: 2, nested: { list: ["a", "b"] }, none: null },
    };
    expect(metadataLeavesOf(extra)).toEqual([
      ["user", "u1"],
      ["tier", "2"],
      ["nested.list", "a"],
      ["nested.list", "b"],
    ]);
  });

  test("is empty without metadata", ({ expect }) => {
    for (const extra of [
      undefined,
      null,
      {},
      { metadata: null },
      { metadata: "x" },
      { metadata: ["x"] },
      "x",
    ]) {
      expect(metadataLeavesOf(extra)).toEqual([]);
    }
  });
});

describe("threadIdOf", () => {
  test("uses the first key with a value", ({ expect }) => {
    const of = (metadata: unknown): string | null => threadIdOf({ metadata });
    expect(of({ conversation_id: "c", thread_id: "t", session_id: "s" })).toBe("s");
    expect(of({ conversation_id: "c", thread_id: "t", session_id: "" })).toBe("t");
    expect(of({ conversation_id: "c", session_id: null, thread_id: {} })).toBe("c");
    expect(of({ thread_id: 42 })).toBe("42");
    expect(of({ thread_id: true })).toBeNull();
    expect(of({})).toBeNull();
    expect(of(null)).toBeNull();
    expect(threadIdOf(undefined)).toBeNull();
  });
});

describe("factsOf", () => {
  test("returns the required facts of each field", ({ expect }) => {
    expect(factsOf("inputs", { q: "hi" })).toEqual({
      inputsPreview: "hi",
      inputLeaves: JSON.stringify([["q", "hi"]]),
    });
    expect(factsOf("outputs", { a: "hello" })).toEqual({
      outputsPreview: "hello",
      outputLeaves: JSON.stringify([["a", "hello"]]),
      usage: null,
    });
    expect(factsOf("outputs", { usage_metadata: { input_tokens: 3 } }).usage).toMatchObject({
      input_tokens: 3,
    });
    expect(factsOf("events", [])).toEqual({ firstTokenTime: null });
    expect(factsOf("extra", { metadata: {} })).toEqual({});
    expect(factsOf("error", "x")).toEqual({});
  });
});
