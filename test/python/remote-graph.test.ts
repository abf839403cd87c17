import { describe } from "vitest";
import { hasPythonClients, runPython } from "../support/python.ts";
import { testWithServer } from "../support/server.ts";

const test = testWithServer().extend("python", { scope: "file" }, ({ server }) => {
  return async (scenario: string) => {
    const result = await runPython("remote_graph", scenario, {}, { url: server.url });
    return result as Record<string, unknown>;
  };
});

describe.skipIf(!hasPythonClients)("Python's RemoteGraph", () => {
  test("can be invoked, and has a state", async ({ python, client, expect }) => {
    const { thread_id, ...result } = await python("invoke");
    expect(result).toEqual({
      values: ["hi", "reply 1 to: hi"],
      state: ["hi", "reply 1 to: hi"],
      next: [],
      history: ["update", "loop"],
      nodes: ["__end__", "__start__", "count", "reply"],
    });
    const { values } = await client.threads.getState<{ turns: number }>(String(thread_id));
    expect(values.turns).toBe(11);
  });

  test("can be invoked asynchronously", async ({ python, client, expect }) => {
    const { thread_id, ...result } = await python("invoke_async");
    expect(result).toEqual({ updates: [["count"], ["reply"]], turns: 2 });
    expect(await client.runs.list(String(thread_id))).toHaveLength(2);
  });

  test("streams the graph's events", async ({ python, expect }) => {
    expect(await python("stream")).toEqual({
      values: [0, 1, 1],
      updates: [["count"], ["reply"]],
      messages: ["reply 1 to: hi"],
      tasks: ["count", "count", "reply", "reply"],
      custom: [0, 1],
      levels: [0, 1, 2],
    });
  });

  test("interrupts, and continues with the answers", async ({ python, client, expect }) => {
    const { thread_id, ...result } = await python("resume");
    expect(result).toEqual({ asked: { question: "first" }, waiting: { question: "first" } });
    const { values } = await client.threads.getState(String(thread_id));
    expect(values).toEqual({
      mode: "twice",
      answers: { first: "one", second: "two" },
      finished: true,
    });
  });

  test("can be a node of a graph in Python", async ({ python, expect }) => {
    expect(await python("as_node")).toEqual(["hi", "reply 1 to: hi"]);
  });

  test("raises an error when the graph failed", async ({ python, expect }) => {
    expect(await python("failure")).toContain("FixtureError");
  });
});
