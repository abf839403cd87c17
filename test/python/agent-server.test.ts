import { randomUUID } from "node:crypto";
import { describe } from "vitest";
import { hasPythonClients, runPython } from "../support/python.ts";
import { testWithServer } from "../support/server.ts";

const test = testWithServer().extend("python", { scope: "file" }, ({ server }) => {
  return async (scenario: string, args: Record<string, unknown>) => {
    const result = await runPython("agent_server", scenario, args, { url: server.url });
    return result as Record<string, unknown>;
  };
});

const CLIENTS = ["sync", "async"] as const;

/** The event types of a stream of one mode, in the order of their first appearance. */
const STREAMS: [mode: string, graph: string, events: string[]][] = [
  ["values", "appender", ["metadata", "values"]],
  ["updates", "appender", ["metadata", "updates"]],
  ["messages", "agent", ["metadata", "messages/complete", "messages/metadata", "messages/partial"]],
  ["messages-tuple", "agent", ["metadata", "messages"]],
  ["events", "appender", ["metadata", "events"]],
  ["tasks", "appender", ["metadata", "tasks"]],
  ["checkpoints", "appender", ["metadata", "checkpoints"]],
  ["debug", "appender", ["metadata", "debug"]],
  ["custom", "custom_stream", ["metadata", "custom"]],
];

describe.skipIf(!hasPythonClients)("Python's langgraph_sdk", () => {
  test.for(CLIENTS)("manages assistants (%s)", async (kind, { python, client, expect }) => {
    const tag = randomUUID();
    const result = await python("assistants", { kind, tag });
    const id = String(result["id"]);
    expect(result).toEqual({
      id,
      gone: expect.any(String),
      found: [{ assistant_id: id, name: "first" }],
      count: 1,
      versions: [2, 1],
      nodes: ["__end__", "__start__", "agent", "tool"],
      schemas: [
        "config_schema",
        "context_schema",
        "graph_id",
        "input_schema",
        "output_schema",
        "state_schema",
      ],
      subgraphs: ["child", "child|grandchild"],
    });
    expect(await client.assistants.get(id)).toMatchObject({
      graph_id: "agent",
      version: 1,
      name: "first",
      description: "of a test",
      metadata: { tag },
      config: { tags: ["python"] },
      context: { token_delay_ms: 1 },
    });
    const [latest] = await client.assistants.getVersions(id);
    expect(latest).toMatchObject({ name: "second", metadata: { more: 1 } });
    await expect(client.assistants.get(String(result["gone"]))).rejects.toThrow("404");
  });

  test.for(CLIENTS)("manages threads (%s)", async (kind, { python, client, expect }) => {
    const tag = randomUUID();
    const result = await python("threads", { kind, tag });
    const id = String(result["id"]);
    expect(result).toEqual({
      id,
      gone: expect.any(String),
      turns: [1, 1],
      history: ["update", "loop"],
      found: [{ thread_id: id, status: "idle" }],
      count: 1,
    });
    expect((await client.threads.get(id)).metadata).toMatchObject({ tag, more: 1 });
    const { values } = await client.threads.getState<{ turns: number }>(id);
    expect(values.turns).toBe(11);
    await expect(client.threads.get(String(result["gone"]))).rejects.toThrow("404");
  });

  for (const [mode, graph, events] of STREAMS) {
    test.for(CLIENTS)(`streams ${mode} (%s)`, async (kind, { python, client, expect }) => {
      const result = await python("stream", { kind, mode, graph });
      expect([...new Set(result["events"] as string[])]).toEqual(events);
      const [run] = await client.runs.list(String(result["thread_id"]));
      expect(run?.status).toBe("success");
    });
  }

  test.for(CLIENTS)(
    "starts, joins and cancels runs (%s)",
    async (kind, { python, client, expect }) => {
      const result = await python("runs", { kind });
      const [first, endless] = result["runs"] as [string, string];
      expect(result).toMatchObject({
        done: 2,
        replayed: ["metadata", "values", "values", "values", "values"],
        listed: [endless, first],
        got: "success",
        stateless: 1,
      });
      const thread = String(result["thread_id"]);
      const stored = await client.runs.list(thread);
      expect(stored.map(({ run_id, status }) => [run_id, status])).toEqual([
        [endless, "interrupted"],
        [first, "success"],
      ]);
      expect(stored[1]?.metadata).toMatchObject({ n: 1 });
    },
  );

  test.for(CLIENTS)(
    "answers the questions of a graph (%s)",
    async (kind, { python, client, expect }) => {
      const { thread_id, ...result } = await python("interrupts", { kind });
      const answers = { first: "one", second: "two" };
      expect(result).toEqual({
        asked: [{ question: "first" }, { question: "second", first: "one" }],
        last: { mode: "twice", answers, finished: true },
      });
      const { values, next } = await client.threads.getState(String(thread_id));
      expect([values, next]).toEqual([
        { mode: "twice", answers: { ...answers, third: 3 }, finished: true },
        [],
      ]);
    },
  );

  test.for(CLIENTS)(
    "gets an error that says what is wrong (%s)",
    async (kind, { python, expect }) => {
      const errors = (await python("failure", { kind })) as unknown;
      expect(errors).toEqual([
        ["NotFoundError", 404],
        ["HTTPStatusError", 404],
        ["UnprocessableEntityError", 422],
      ]);
    },
  );
});
