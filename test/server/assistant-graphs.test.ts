import { describe } from "vitest";
import { testInWorkspace } from "../support/shared-server.ts";

const test = testInWorkspace();

const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";
const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

function node(id: string, name = id) {
  const data = { id: ["langgraph", "RunnableCallable"], name };
  return { id, type: "runnable", data, metadata: {} };
}

function subgraphNode(id: string) {
  const data = { id: ["langgraph", "pregel", "CompiledStateGraph"], name: "LangGraph" };
  return { id, type: "runnable", data, metadata: {} };
}

function edge(source: string, target: string, conditional = false) {
  return { source, target, conditional };
}

const START = { id: "__start__", type: "schema", data: { $schema: DRAFT_2020 } };
const END = { id: "__end__", type: "schema", data: { $schema: DRAFT_2020 } };

describe("the drawing of a graph", () => {
  test("has its nodes and edges", async ({ client, expect }) => {
    expect(await client.assistants.getGraph("command_goto")).toEqual({
      nodes: [START, node("decide"), node("work"), node("collect"), END],
      edges: [
        edge("__start__", "decide"),
        edge("collect", "__end__"),
        edge("work", "collect"),
        edge("decide", "work", true),
        edge("decide", "collect", true),
      ],
    });
  });

  test("shows a subgraph as one node, unless opened", async ({ client, expect }) => {
    expect(await client.assistants.getGraph("nested")).toEqual({
      nodes: [START, node("before"), subgraphNode("child"), node("after"), END],
      edges: [
        edge("__start__", "before"),
        edge("after", "__end__"),
        edge("before", "child"),
        edge("child", "after"),
      ],
    });
    const opened = {
      nodes: [
        START,
        node("before"),
        node("child:child_step", "child_step"),
        subgraphNode("child:grandchild"),
        node("after"),
        END,
      ],
      edges: [
        edge("child:child_step", "child:grandchild"),
        edge("__start__", "before"),
        edge("after", "__end__"),
        edge("before", "child:child_step"),
        edge("child:grandchild", "after"),
      ],
    };
    expect(await client.assistants.getGraph("nested", { xray: 1 })).toEqual(opened);
    expect(await client.assistants.getGraph("nested", { xray: false })).not.toEqual(opened);
  });

  test("shows the graph that a factory makes for the assistant", async ({ client, expect }) => {
    const { assistant_id } = await client.assistants.create({
      graphId: "factory",
      config: { configurable: { flavour: "mint" } },
    });
    const nodesOf = async (id: string) =>
      (await client.assistants.getGraph(id)).nodes.map(({ id }) => id);
    expect(await nodesOf("factory")).toEqual(["__start__", "serve_vanilla", "__end__"]);
    expect(await nodesOf(assistant_id)).toEqual(["__start__", "serve_mint", "__end__"]);
  });

  test("fails with the factory's error", async ({ client, expect }) => {
    const { assistant_id } = await client.assistants.create({
      graphId: "factory",
      config: { configurable: { flavour: "broken" } },
    });
    await expect(client.assistants.getGraph(assistant_id)).rejects.toThrow(
      'HTTP 400: {"detail":"The factory has no such flavour"}',
    );
  });
});

describe("the schemas of a graph", () => {
  test("come from its zod objects", async ({ client, expect }) => {
    const question = { type: "string", minLength: 1, description: "What to answer" };
    const words = {
      default: 0,
      type: "integer",
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    };
    const object = { $schema: DRAFT_2020, type: "object", additionalProperties: false };
    const context = {
      ...object,
      properties: { tone: { type: "string", enum: ["plain", "polite"] } },
    };
    expect(await client.assistants.getSchemas("zod_state")).toEqual({
      graph_id: "zod_state",
      input_schema: { ...object, properties: { question } },
      output_schema: {
        ...object,
        properties: { answer: { type: "string" } },
        required: ["answer"],
      },
      state_schema: { ...object, properties: { question, answer: { type: "string" }, words } },
      config_schema: context,
      context_schema: context,
    });
  });

  test("are read from TypeScript types where there is no other source", async ({
    client,
    expect,
  }) => {
    const { input_schema, state_schema, config_schema } =
      await client.assistants.getSchemas("annotation");
    const state = {
      $schema: DRAFT_07,
      type: "object",
      properties: {
        title: { type: "string" },
        priority: { enum: ["high", "low"], type: "string" },
        summary: { type: "string" },
        tags: { type: "array", items: { type: "string" } },
        nested: { $ref: expect.stringMatching(/^#\/definitions\//) },
      },
      definitions: expect.any(Object),
    };
    expect(input_schema).toEqual(state);
    expect(state_schema).toEqual(state);
    expect(config_schema).toEqual({
      $schema: DRAFT_07,
      type: "object",
      properties: { language: { enum: ["en", "fr"], type: "string" } },
    });
  });

  test("come from both sources for a graph that uses both", async ({ client, expect }) => {
    const schemas = await client.assistants.getSchemas("configurable");
    expect(schemas.config_schema).toEqual({
      $schema: DRAFT_2020,
      type: "object",
      properties: {
        model: { type: "string", description: "Which model to use" },
        temperature: { type: "number", minimum: 0, maximum: 2 },
      },
      additionalProperties: false,
    });
    for (const schema of [schemas.input_schema, schemas.output_schema, schemas.state_schema]) {
      expect(schema).toMatchObject({ type: "object", properties: { seen: expect.any(Object) } });
    }
  });
});

describe("subgraphs", () => {
  test("are listed by namespace, on request with their own subgraphs", async ({
    client,
    expect,
  }) => {
    const namespaces = async (options?: { namespace?: string; recurse?: boolean }) =>
      Object.keys(await client.assistants.getSubgraphs("nested", options));
    expect(await namespaces()).toEqual(["child"]);
    expect(await namespaces({ recurse: true })).toEqual(["child", "child|grandchild"]);
    expect(await namespaces({ namespace: "nope" })).toEqual([]);
    expect(await client.assistants.getSubgraphs("branching")).toEqual({});
  });

  test("have schemas under both names that clients read", async ({ client, expect }) => {
    const { child } = await client.assistants.getSubgraphs("nested");
    const state = {
      $schema: DRAFT_07,
      type: "object",
      properties: {
        confirm: { type: "boolean" },
        approval: expect.any(Object),
        trail: { type: "array", items: { type: "string" } },
        inner: { type: "string" },
      },
      definitions: expect.any(Object),
    };
    const config = { $schema: DRAFT_07, type: "object" };
    expect(child).toEqual({
      graph_id: "nested",
      input: state,
      input_schema: state,
      output: state,
      output_schema: state,
      state,
      state_schema: state,
      config,
      config_schema: config,
      context_schema: config,
    });
  });

  test("can be listed below the namespace of a subgraph", async ({ client, expect }) => {
    const found = await client.assistants.getSubgraphs("nested", {
      namespace: "child|grandchild",
      recurse: true,
    });
    expect(Object.keys(found)).toEqual(["child|grandchild"]);
  });
});
