import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, test } from "vitest";
import { buildProject, type BuiltProject } from "../../../cli/project/build-project.ts";
import { temporaryProject } from "./support/temporary-project.ts";

/** Hands back what it was given, so that a test can look at it by importing the bundle. */
const STUB_HOST = "export const defineGraphHost = (project) => project;";

type Bundle = {
  GraphHost: {
    graphs: Record<string, { module: Record<string, unknown>; exportName: string }>;
  };
};

function build(folder: string, schemas = false): Promise<BuiltProject> {
  return buildProject({
    configPath: folder,
    outFile: join(folder, "out/project.js"),
    graphHostModule: join(folder, "host.js"),
    schemas,
  });
}

async function load(folder: string): Promise<Bundle> {
  return (await import(
    /* @vite-ignore */ pathToFileURL(join(folder, "out/project.js")).href
  )) as Bundle;
}

async function problemOf(files: Record<string, string | object>): Promise<string> {
  const folder = temporaryProject({ "host.js": STUB_HOST, ...files });
  try {
    await build(folder);
  } catch (error) {
    return (error as Error).message.replaceAll(folder, "<project>");
  }
  return "built";
}

describe("a bundle", () => {
  test("holds every graph under its id", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "agent.ts": 'import { name } from "./name.ts";\nexport const graph: string = name;',
      "name.ts": 'export const name = "from typescript";',
      "plain.cjs": 'exports.graph = "from commonjs";',
      "view.tsx": 'export default "from tsx" as string;',
      "langgraph.json": {
        graphs: {
          agent: { path: "./agent.ts:graph", description: "An agent." },
          plain: "./plain.cjs:graph",
          view: "./view.tsx:default",
        },
        env: { MODEL: "local" },
      },
    });

    const built = await build(folder);
    const { GraphHost } = await load(folder);

    const values = Object.values(GraphHost.graphs).map(
      ({ module, exportName }) => module[exportName],
    );
    expect(values).toEqual(["from typescript", "from commonjs", "from tsx"]);
    expect(GraphHost.graphs).toMatchObject({ agent: { description: "An agent." } });
    expect(built).toEqual({
      graphs: ["agent", "plain", "view"],
      hasAuth: false,
      env: { MODEL: "local" },
      inputs: expect.arrayContaining(
        ["langgraph.json", "agent.ts", "name.ts", "plain.cjs", "view.tsx"].map((name) =>
          join(folder, name),
        ),
      ),
      warnings: [],
    });
  });

  test("holds what decides who may do what", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "agent.ts": "export const graph = 1;",
      "auth.ts": 'export const auth = { "~handlerCache": { authenticate: "somehow" } };',
      "langgraph.json": {
        graphs: { agent: "./agent.ts:graph" },
        auth: { path: "./auth.ts:auth", cache: { cache_keys: ["Cookie"], max_size: 5 } },
      },
    });

    const { inputs, hasAuth } = await build(folder);
    const { GraphHost } = await load(folder);

    expect(hasAuth).toBe(true);
    expect(GraphHost).toMatchObject({
      auth: {
        handlers: { "~handlerCache": { authenticate: "somehow" } },
        studio: true,
        cache: { headers: ["cookie"], ttl_ms: 60_000, max_size: 5 },
      },
    });
    expect(inputs).toContain(join(folder, "auth.ts"));
  });

  test("is made of an auth module that only a Worker can evaluate", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "agent.ts": "export const graph = 1;",
      "auth.ts": 'import { env } from "cloudflare:workers"; export const auth = env.AUTH;',
      "langgraph.json": {
        graphs: { agent: "./agent.ts:graph" },
        auth: { path: "./auth.ts:auth" },
      },
    });

    expect((await build(folder)).warnings).toEqual([]);
    expect(readdirSync(join(folder, "out")).toSorted()).toEqual(["project.js", "project.js.map"]);
  });

  test("evaluates the graph host before the graphs", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": `globalThis.evaluated = ["host"];\n${STUB_HOST}`,
      "agent.ts": 'globalThis.evaluated.push("agent"); export const graph = globalThis.evaluated;',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    await build(folder);
    const { GraphHost } = await load(folder);

    expect(GraphHost.graphs["agent"]?.module["graph"]).toEqual(["host", "agent"]);
  });

  test("leaves Node's modules to the runtime, also when CommonJS requires them", async ({
    expect,
  }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "agent.cjs": 'const { join } = require("path"); exports.graph = join("a", "b");',
      "other.ts": 'import { basename } from "path"; export const graph = basename("a/b");',
      "langgraph.json": { graphs: { agent: "./agent.cjs:graph", other: "./other.ts:graph" } },
    });

    await build(folder);
    const { GraphHost } = await load(folder);

    expect(GraphHost.graphs["agent"]?.module["graph"]).toBe("a/b");
    expect(GraphHost.graphs["other"]?.module["graph"]).toBe("b");
    const text = readFileSync(join(folder, "out/project.js"), "utf8");
    expect([...text.matchAll(/from "(?!node:)(.*)"/g)].map(([, name]) => name)).toEqual([]);
  });

  test("takes from this repository what the project has not installed", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "agent.ts": 'export { AIMessage as graph } from "@langchain/core/messages";',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    await build(folder);
    const { GraphHost } = await load(folder);

    expect(GraphHost.graphs["agent"]?.module["graph"]).toBeTypeOf("function");
  });

  test("prefers the project's own LangChain, also for this repository's code", async ({
    expect,
  }) => {
    const folder = temporaryProject({
      "node_modules/@langchain/core/package.json": { version: "1.0.0", main: "index.js" },
      "node_modules/@langchain/core/index.js": 'export const copy = "the project\'s";',
      "host.js": STUB_HOST,
      "agent.ts": [
        'import { copy } from "@langchain/core";',
        `import { copy as seenByRepository } from "${import.meta.dirname}/support/langchain-user.js";`,
        "export const graph = [copy, seenByRepository];",
      ].join("\n"),
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    await build(folder);
    const { GraphHost } = await load(folder);

    expect(GraphHost.graphs["agent"]?.module["graph"]).toEqual(["the project's", "the project's"]);
  });

  test("carries the schemas of the graphs' types", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "types.ts": "export type Item = string;",
      "agent.ts": `
        import { Annotation, START, StateGraph } from "@langchain/langgraph";
        import type { Item } from "./types.ts";
        const State = Annotation.Root({ topic: Annotation<string>, items: Annotation<Item[]> });
        const Input = Annotation.Root({ topic: Annotation<string> });
        const Output = Annotation.Root({ items: Annotation<Item[]> });
        const Config = Annotation.Root({ model: Annotation<"a" | "b"> });
        export const graph = new StateGraph({ stateSchema: State, input: Input, output: Output }, Config)
          .addNode("work", async ({ topic }) => ({ items: [topic] }))
          .addEdge(START, "work")
          .compile();
      `,
      "langgraph.json": { graphs: { helper: "./agent.ts:graph" } },
    });

    const { warnings } = await build(folder, true);
    const { GraphHost } = await load(folder);

    expect(warnings).toEqual([]);
    expect(GraphHost.graphs["helper"]).toMatchObject({
      schemas: {
        helper: {
          input: { type: "object", properties: { topic: { type: "string" } } },
          output: {
            type: "object",
            properties: { items: { type: "array", items: { type: "string" } } },
          },
          config: {
            type: "object",
            properties: { model: { type: "string", enum: ["a", "b"] } },
          },
        },
      },
    });
  });

  test("is made without schemas when the types cannot be read", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "agent.ts": 'export * from "./graph.js";',
      "graph.js": "export const graph = 1;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    const { warnings } = await build(folder, true);
    const { GraphHost } = await load(folder);

    expect(warnings).toEqual([
      `no schemas could be read from the graphs' types: Failed to find export "graph"`,
    ]);
    expect(GraphHost.graphs["agent"]?.module["graph"]).toBe(1);
  });
});

describe("a project is refused", () => {
  test("by graph and export when the export is missing", async ({ expect }) => {
    const problem = await problemOf({
      "agent.ts": "export const other = 1;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph", good: "./agent.ts:other" } },
    });

    expect(problem).toBe(
      '<project> does not build:\n  graph "agent": <project>/agent.ts has no export named "graph"',
    );
  });

  test("when its auth names no export", async ({ expect }) => {
    const problem = await problemOf({
      "agent.ts": "export const graph = 1;",
      "auth.ts": "export const other = 1;",
      "langgraph.json": {
        graphs: { agent: "./agent.ts:graph" },
        auth: { path: "./auth.ts:auth" },
      },
    });

    expect(problem).toBe(
      '<project> does not build:\n  "auth.path": <project>/auth.ts has no export named "auth"',
    );
  });

  test.for([
    [
      "is something else",
      "export const auth = { authenticate() {} };",
      "is no Auth object of @langchain/langgraph-sdk/auth",
    ],
    ["is nothing", "export const auth = null;", "is no Auth object of"],
    [
      "lets nobody in",
      'import { Auth } from "@langchain/langgraph-sdk/auth"; export const auth = new Auth();',
      "has no authenticate handler: nobody could be let in",
    ],
  ] as const)("when its auth %s", async ([, source, problem], { expect }) => {
    const project = {
      "agent.ts": "export const graph = 1;",
      "auth.ts": source,
      "langgraph.json": {
        graphs: { agent: "./agent.ts:graph" },
        auth: { path: "./auth.ts:auth" },
      },
    };

    expect(await problemOf(project)).toContain(
      `"auth.path": <project>/auth.ts exports "auth", which ${problem}`,
    );
  });

  test("by place when a module is missing", async ({ expect }) => {
    const problem = await problemOf({
      "agent.ts": 'import "./gone.ts";\nexport const graph = 1;',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toBe(
      '<project> does not build:\n  agent.ts:1:8: Could not resolve "./gone.ts"',
    );
  });

  test("by place when a file does not parse", async ({ expect }) => {
    const problem = await problemOf({
      "agent.ts": "export const graph = ;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toContain("agent.ts:1:22: ");
  });

  test("by version when its own LangGraph is of another major version", async ({ expect }) => {
    const problem = await problemOf({
      "node_modules/@langchain/langgraph/package.json": { version: "0.2.74" },
      "agent.ts": "export const graph = 1;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toBe(
      "<project> has @langchain/langgraph 0.2.74 installed; version 1 is needed",
    );
  });
});
