import type { Client, StreamMode } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { human } from "../support/messages.ts";
import { collect } from "../support/run-events.ts";
import { testInWorkspace } from "../support/shared-server.ts";

const test = testInWorkspace();

type Options = { graph?: string; modes?: StreamMode[]; streamSubgraphs?: boolean };

/** Returns the events of a run that calls one tool, without the metadata that comes first. */
async function eventsOf(
  client: Client,
  call: string,
  { graph = "tools", modes = ["tools"], streamSubgraphs = false }: Options = {},
) {
  const stream = client.runs.stream(null, graph, {
    input: { messages: [human(call)] },
    streamMode: modes,
    streamSubgraphs,
  });
  const [, ...events] = await collect(stream);
  return events.map(({ event, data }) => [event, data]);
}

const TASK = "[0-9a-f-]{36}";

/** Returns the events of a tool call, under this event name. */
const lifeOf = (tool: string, event: unknown = "tools") => {
  const told = { toolCallId: `call_${tool}`, name: tool };
  const output = {
    type: "tool",
    content: "It is sunny in Bern",
    status: "success",
    name: tool,
    tool_call_id: told.toolCallId,
    additional_kwargs: {},
    response_metadata: {},
  };
  return {
    start: [event, { event: "on_tool_start", ...told, input: '{"city":"Bern"}' }],
    asking: [event, { event: "on_tool_event", ...told, data: { progress: "asking" } }],
    reading: [event, { event: "on_tool_event", ...told, data: { progress: "reading" } }],
    end: [event, { event: "on_tool_end", ...told, output }],
    error: [
      event,
      {
        event: "on_tool_error",
        ...told,
        error: { name: "RangeError", message: "Nobody knows Bern" },
      },
    ],
  };
};

describe("the mode tools", () => {
  test("shows how a tool begins, its progress and its result", async ({ client, expect }) => {
    const { start, asking, reading, end } = lifeOf("forecast");
    expect(await eventsOf(client, "forecast Bern")).toEqual([start, asking, reading, end]);
  });

  test("shows the error of a tool in a run that continues", async ({ client, expect }) => {
    const { start, error } = lifeOf("broken");
    const events = await eventsOf(client, "broken Bern", { modes: ["tools", "updates"] });
    expect(events.filter(([event]) => event === "tools")).toEqual([start, error]);
    expect(events.at(-1)).toEqual(["updates", { act: expect.anything() }]);
  });

  test("names the nested graph of the tool, on request", async ({ client, expect }) => {
    const graph = "tools_nested";
    const nested = expect.stringMatching(`^tools\\|helper:${TASK}$`);
    const { start, asking, reading, end } = lifeOf("forecast", nested);
    const deep = await eventsOf(client, "forecast Bern", { graph, streamSubgraphs: true });
    expect(deep).toEqual([start, asking, reading, end]);
    expect(new Set(deep.map(([event]) => event)).size).toBe(1);
    // Without the option, LangGraph shows only calls by the outermost graph's own nodes.
    expect(await eventsOf(client, "forecast Bern", { graph })).toEqual([]);
  });

  test("can be combined with others, and joined alone", async ({ client, expect }) => {
    const { start, asking, reading, end } = lifeOf("forecast");
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "tools", {
      input: { messages: [human("forecast Bern")] },
      streamMode: ["values", "tools", "events"],
      streamResumable: true,
    });
    const joined = client.runs.joinStream(thread_id, run.run_id, {
      lastEventId: "-1",
      streamMode: ["tools"],
    });
    const [, ...events] = await collect(joined);
    expect(events.map(({ event, data }) => [event, data])).toEqual([start, asking, reading, end]);
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({
      messages: [{ type: "human" }, { type: "ai" }, { content: "It is sunny in Bern" }],
    });
  });
});
