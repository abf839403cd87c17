import { describe, expect, test } from "vitest";
import { RunTranslator } from "../../../../src/graph-runtime/stream-protocol/run-translator.ts";
import type { ProtocolEvent } from "../../../../src/graph-runtime/stream-protocol/protocol-event.ts";

function translate(log: [event: string, data: unknown][], answers: string[] = []): ProtocolEvent[] {
  const translator = new RunTranslator({ run_id: "r", graph_id: "g", answers });
  return log.flatMap(([event, data]) =>
    translator.translate({ event, data: JSON.stringify(data) }),
  );
}

const of = (events: ProtocolEvent[], method: string) =>
  events.filter((event) => event.method === method).map(({ data }) => data);

const AT = { langgraph_node: "agent", langgraph_checkpoint_ns: "agent:1", ls_provider: "p" };

function chunk(content: unknown, more: object = {}): [string, unknown] {
  const message = { id: "m", type: "ai", content, tool_call_chunks: [], ...more };
  return ["messages", [message, AT]];
}

const TASK = { id: "1", name: "agent", interrupts: [], error: null };

describe("messages", () => {
  test("come in consecutive blocks, and end with their node", () => {
    const call = (args: string, more = {}) =>
      chunk("", { tool_call_chunks: [{ index: 0, args, ...more }] });
    const events = translate([
      chunk("Hel"),
      chunk("lo", { usage_metadata: { input_tokens: 1, output_tokens: 2 } }),
      call("", { id: "c", name: "look" }),
      call('{"a":'),
      call("1}"),
      chunk("", {
        usage_metadata: { input_tokens: 0, output_tokens: 3 },
        response_metadata: { finish_reason: "tool_calls" },
      }),
      ["tasks", { ...TASK, result: {} }],
    ]);
    expect(events.find(({ method }) => method === "messages")).toMatchObject({
      namespace: ["agent:1"],
      node: "agent",
    });
    const run_id = "m";
    const tool = { type: "tool_call_chunk", id: "c", name: "look" };
    expect(of(events, "messages")).toEqual([
      { event: "message-start", role: "ai", id: "m", metadata: { provider: "p" }, run_id },
      { event: "content-block-start", index: 0, content: { type: "text", text: "" }, run_id },
      {
        event: "content-block-delta",
        index: 0,
        delta: { type: "text-delta", text: "Hel" },
        run_id,
      },
      { event: "content-block-delta", index: 0, delta: { type: "text-delta", text: "lo" }, run_id },
      { event: "content-block-finish", index: 0, content: { type: "text", text: "Hello" }, run_id },
      { event: "content-block-start", index: 1, content: { ...tool, args: "" }, run_id },
      {
        event: "content-block-delta",
        index: 1,
        delta: { type: "block-delta", fields: { ...tool, args: '{"a":' } },
        run_id,
      },
      {
        event: "content-block-delta",
        index: 1,
        delta: { type: "block-delta", fields: { ...tool, args: '{"a":1}' } },
        run_id,
      },
      {
        event: "content-block-finish",
        index: 1,
        content: { type: "tool_call", id: "c", name: "look", args: { a: 1 } },
        run_id,
      },
      {
        event: "message-finish",
        usage: { input_tokens: 1, output_tokens: 5 },
        reason: "tool_calls",
        metadata: { finish_reason: "tool_calls" },
        run_id,
      },
    ]);
  });

  test("have separate blocks for reasoning, media and unknown types", () => {
    const events = translate([
      chunk([{ type: "thinking", thinking: "Hm", index: 0 }]),
      chunk([{ type: "thinking", signature: "s", index: 0 }]),
      chunk([{ type: "image", mimeType: "image/png", base64: "AA" }]),
      chunk([{ type: "odd", value: 1 }]),
      chunk([{ type: "tool_use", id: "x" }]),
    ]);
    const finished = of(events, "messages").filter(
      (data) => (data as { event: string }).event === "content-block-finish",
    );
    expect(finished.map((data) => (data as { content: unknown }).content)).toEqual([
      { type: "reasoning", reasoning: "Hm", signature: "s" },
      { type: "image", mime_type: "image/png", base64: "AA" },
      { type: "non_standard", value: { type: "odd", value: 1 } },
    ]);
  });

  test("mark a tool call with invalid JSON", () => {
    const chunks = [{ index: 0, id: "c", name: "look", args: "{oops" }];
    const events = translate([
      chunk("", { tool_call_chunks: chunks }),
      ["tasks", { ...TASK, result: {} }],
    ]);
    expect(of(events, "messages")).toContainEqual(
      expect.objectContaining({
        event: "content-block-finish",
        content: expect.objectContaining({ type: "invalid_tool_call", args: "{oops" }),
      }),
    );
  });

  test("grow in proportion to long arguments", () => {
    const part = "x".repeat(10);
    const log = Array.from({ length: 2000 }, () =>
      chunk("", { tool_call_chunks: [{ index: 0, id: "c", name: "n", args: part }] }),
    );
    const size = JSON.stringify(of(translate(log), "messages")).length;
    expect(size).toBeLessThan(20 * 2000 * part.length);
  });

  test("of concurrent models in one node are kept apart", () => {
    const events = translate([
      chunk("a"),
      chunk("b", { id: "n" }),
      chunk("c"),
      ["tasks", { ...TASK, result: {} }],
    ]);
    const texts = of(events, "messages").flatMap((data) => {
      const { event, run_id, content } = data as Record<string, { text: string }>;
      return (event as unknown) === "content-block-finish" ? [[run_id, content?.text]] : [];
    });
    expect(texts).toEqual([
      ["m", "ac"],
      ["n", "b"],
    ]);
  });

  test("that a node returns are complete and come once, except those of tools", () => {
    const whole = (type: string) => [{ id: type, type, content: "x" }, AT];
    const events = translate([
      ["messages", whole("human")],
      ["messages", whole("human")],
      ["messages", whole("tool")],
    ]);
    expect(of(events, "messages").map((data) => (data as { event: string }).event)).toEqual([
      "message-start",
      "content-block-start",
      "content-block-delta",
      "content-block-finish",
      "message-finish",
    ]);
  });
});

describe("graphs and nodes", () => {
  test("begin before their content, and end with their task", () => {
    const events = translate([
      ["values|child:2|inner:3", { a: 1 }],
      ["tasks|child:2", { id: "3", name: "inner", result: {}, interrupts: [], error: "no" }],
      ["tasks", { id: "2", name: "child", result: {}, interrupts: [{ id: "i" }], error: null }],
    ]);
    const told = events.filter(({ method }) => method === "lifecycle");
    expect(told.map(({ namespace, data }) => [namespace.length, data])).toEqual([
      [1, { event: "started", graph_name: "child" }],
      [2, { event: "started", graph_name: "inner" }],
      [2, { event: "failed", graph_name: "inner" }],
      [1, { event: "interrupted", graph_name: "child" }],
    ]);
  });

  test("name the tool call that they belong to", () => {
    const input = { lg_tool_call: { id: "c" } };
    const events = translate([
      ["tasks", { id: "1", name: "tools", input, interrupts: [] }],
      ["values|tools:1", { a: 1 }],
    ]);
    expect(of(events, "lifecycle")).toEqual([
      { event: "started", graph_name: "tools", cause: { type: "toolCall", tool_call_id: "c" } },
    ]);
  });
});

describe("a state", () => {
  test("has messages in the protocol's form, and no interrupts", () => {
    const call = { id: "c", function: { name: "look", arguments: '{"a":1}' } };
    const events = translate([
      [
        "values",
        {
          messages: [
            { role: "user", content: [{ type: "image", mimeType: "image/png" }], id: "1" },
            {
              type: "ai",
              content: "",
              additional_kwargs: { tool_calls: [call] },
              response_metadata: {},
            },
          ],
          __interrupt__: [{ id: "i", value: "?" }],
        },
      ],
      ["values", { __interrupt__: [{ id: "i", value: "?" }] }],
    ]);
    expect(of(events, "values")).toEqual([
      {
        messages: [
          { type: "human", content: [{ type: "image", mime_type: "image/png" }], id: "1" },
          {
            type: "ai",
            content: "",
            tool_calls: [{ id: "c", name: "look", args: { a: 1 }, type: "tool_call" }],
          },
        ],
      },
    ]);
    expect(of(events, "input.requested")).toEqual([{ interrupt_id: "i", payload: "?" }]);
  });
});

test("a run that answers interrupts reports this at its start, and starts once", () => {
  const events = translate(
    [
      ["metadata", { run_id: "r", attempt: 1 }],
      chunk("a"),
      ["metadata", { run_id: "r", attempt: 2 }],
    ],
    ["i"],
  );
  expect(events[0]).toMatchObject({ eventId: "synth:r:running", data: { event: "running" } });
  expect(of(events, "input.answered")).toEqual([{ interrupt_ids: ["i"] }]);
  expect(of(events, "messages").at(-1)).toMatchObject({ event: "error" });
  expect(of(events, "lifecycle")).toHaveLength(2);
});

test("a custom event has a name if the graph sets one", () => {
  const events = translate([
    ["custom", { a: 1 }],
    ["custom", { name: "n", payload: 2 }],
  ]);
  expect(of(events, "custom")).toEqual([{ payload: { a: 1 } }, { name: "n", payload: 2 }]);
});

describe("a transformer's events", () => {
  const made = (method: string, data: unknown, namespace: unknown = ["helper:1"]) =>
    ["protocol-event", { method, namespace, data }] as [string, unknown];

  test("come after the start of their path, and can end it", () => {
    const graph_name = "helper";
    const cause = { type: "toolCall", tool_call_id: "c" };
    expect(
      translate([
        made("lifecycle", { event: "started", cause }),
        made("custom", { name: "n", payload: 1 }),
        made("lifecycle", { event: "failed" }),
        made("lifecycle", { event: "failed" }, []),
      ]).map(({ method, data }) => [method, data]),
    ).toEqual([
      ["lifecycle", { event: "started", graph_name, cause }],
      ["custom", { name: "n", payload: 1 }],
      ["lifecycle", { event: "failed", graph_name }],
    ]);
  });

  test("replace only the next entry, and none of another attempt", () => {
    const kept = { method: "values", namespace: [], data: { kept: true } };
    const values = (at: number) => ["values", { at }] as [string, unknown];
    const instead = ["protocol-instead", [kept]] as [string, unknown];
    const again = ["metadata", { attempt: 2 }] as [string, unknown];
    const told = translate([instead, values(1), values(2), instead, again, values(3)]);
    expect(of(told, "values")).toEqual([{ kept: true }, { at: 2 }, { at: 3 }]);
  });

  test("are dropped if they are invalid", () => {
    const odd = [
      made("custom", null),
      made("shout", {}),
      made("values", {}, "x"),
      made("", 1, [1]),
    ];
    expect(translate([...odd, ["protocol-event", null], ["protocol-event", 7]])).toEqual([]);
  });
});
