import { randomUUID } from "node:crypto";
import { describe } from "vitest";
import { testWithServer } from "../support/server.ts";

const test = testWithServer({}, "agents");

const asked = (content: string) => ({ messages: [{ role: "user", content }] });

type Message = { type: string; content: unknown; tool_calls?: { name: string; args: object }[] };

const messagesOf = (values: unknown) =>
  (values as { messages: Message[] }).messages.map(({ type, content, tool_calls = [] }) => ({
    type,
    content,
    calls: tool_calls.map(({ name, args }) => ({ name, args })),
  }));

describe("an agent of createAgent", () => {
  test("calls its tools and answers", async ({ client, expect }) => {
    const values = await client.runs.wait(null, "assistant", { input: asked("What is 6 * 7?") });
    expect(messagesOf(values)).toEqual([
      { type: "human", content: "What is 6 * 7?", calls: [] },
      {
        type: "ai",
        content: "",
        calls: [{ name: "calculator", args: { expression: "6 * 7" } }],
      },
      { type: "tool", content: "42", calls: [] },
      { type: "ai", content: expect.stringContaining("42"), calls: [] },
    ]);
  });

  test("streams each token of its answer once", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const texts: string[] = [];
    const stream = client.runs.stream(thread_id, "assistant", {
      input: asked("What is 6 * 7?"),
      streamMode: "messages-tuple",
    });
    for await (const { event, data } of stream) {
      if (event !== "messages") continue;
      const [message] = data as unknown as [Message];
      if (message.type === "ai") texts.push(String(message.content));
    }
    const { values } = await client.threads.getState(thread_id);
    expect(texts.join("")).toBe(messagesOf(values).at(-1)?.content);
  });

  test("has schemas and a drawing from its graph", async ({ client, expect }) => {
    const messages = expect.objectContaining({ langgraph_type: "messages" });
    expect(await client.assistants.getSchemas("assistant")).toMatchObject({
      input_schema: { properties: { messages } },
      state_schema: { properties: { messages } },
    });
    const { nodes } = await client.assistants.getGraph("assistant");
    expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(["model_request", "tools"]));
  });

  test("can be created for each run", async ({ client, expect }) => {
    const values = await client.runs.wait(null, "made", { input: asked("My name is Ada.") });
    expect(messagesOf(values)).toHaveLength(2);
  });
});

describe("an agent of createDeepAgent", () => {
  test("is served under a name with a slash", async ({ client, expect }) => {
    const [assistant] = await client.assistants.search({ graphId: "team/deep" });
    const { thread_id } = await client.threads.create();
    const input = asked("What is 6 * 7?");
    for (const id of [assistant?.assistant_id ?? "", "team/deep"]) {
      const values = await client.runs.wait(thread_id, id, { input });
      expect(messagesOf(values).at(-1)).toMatchObject({
        type: "ai",
        content: expect.stringContaining("42"),
      });
    }
    const schemas = await client.assistants.getSchemas("team/deep");
    expect(schemas).toMatchObject({ graph_id: "team/deep", state_schema: expect.any(Object) });
  });
});

describe.for(["watched", "watched_deep"])("stream transformers of %s", (assistantId) => {
  test("report values made from its tools and messages", async ({ client, expect }) => {
    const thread = client.threads.stream(randomUUID(), { assistantId });
    const { extensions, toolCalls } = thread;
    const used = extensions["tools-used"] as AsyncIterable<string> | undefined;
    const deltas = extensions["deltas"];
    await thread.run.start({ input: asked("What is 6 * 7?") });
    const names: string[] = [];
    for await (const name of used ?? []) names.push(name);
    const called = new Set<string>();
    for await (const { name, output } of toolCalls) {
      called.add(name);
      expect(await output).toBe("42");
    }
    expect([names, [...called]]).toEqual([["calculator"], ["calculator"]]);
    expect(await deltas).toEqual(expect.toSatisfy((count) => count > 1));
    expect(messagesOf(await thread.output).at(-1)?.content).toContain("42");
    await thread.close();
  });
});
