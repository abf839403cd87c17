import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, test } from "vitest";
import { buildProject, type BuiltProject } from "../../../cli/project/build-project.ts";
import type { LangGraphChoice } from "../../../cli/project/langchain-source.ts";
import { temporaryProject } from "./support/temporary-project.ts";

/** Returns its argument, so that a test can inspect it by importing the bundle. */
const STUB_HOST = "export const defineGraphHost = (project) => project;";

/** A module of the graph host that imports LangChain. */
const MODULE_OF_HOST = resolve(import.meta.dirname, "../../../src/graph-runtime/async-context.ts");

const REPO_MODULES = resolve(import.meta.dirname, "../../../node_modules");

type Bundle = {
  GraphHost: {
    graphs: Record<
      string,
      { load: () => Promise<Record<string, unknown>>; exportName: string; schemas?: unknown }
    >;
    auth?: { load: () => Promise<Record<string, unknown>> };
  };
};

function build(
  folder: string,
  schemas = false,
  langGraph: LangGraphChoice = "project",
): Promise<BuiltProject> {
  return buildProject({
    configPath: folder,
    outFile: join(folder, "out/project.js"),
    graphHostModule: join(folder, "host.js"),
    schemas,
    langGraph,
  });
}

async function load(folder: string): Promise<Bundle> {
  return (await import(
    /* @vite-ignore */ pathToFileURL(join(folder, "out/project.js")).href
  )) as Bundle;
}

/** Returns the export of a graph's module. */
async function graphOf({ GraphHost }: Bundle, id: string): Promise<unknown> {
  const graph = GraphHost.graphs[id];
  return (await graph?.load())?.[graph?.exportName ?? ""];
}

/** Replaces esbuild's escapes by the characters, as it escapes everything that is not ASCII. */
function unescaped(code: string): string {
  return code.replaceAll(/\\x([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
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
  test("contains every graph under its id", async ({ expect }) => {
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
    const bundle = await load(folder);

    const values = ["agent", "plain", "view"].map((id) => graphOf(bundle, id));
    expect(await Promise.all(values)).toEqual(["from typescript", "from commonjs", "from tsx"]);
    expect(bundle.GraphHost.graphs).toMatchObject({ agent: { description: "An agent." } });
    expect(built).toEqual({
      graphs: ["agent", "plain", "view"],
      hasAuth: false,
      env: { MODEL: "local" },
      files: [],
      typedSources: {
        project: expect.objectContaining({ projectDir: folder }),
        sources: ["agent.ts", "plain.cjs", "view.tsx", "name.ts"].map((name) => join(folder, name)),
      },
      modules: ["host.js", "name.ts", "agent.ts", "plain.cjs", "view.tsx"].map((name) =>
        join(folder, name),
      ),
      packageModules: [],
      readsFiles: false,
      inputs: expect.arrayContaining(
        ["langgraph.json", "agent.ts", "name.ts", "plain.cjs", "view.tsx"].map((name) =>
          join(folder, name),
        ),
      ),
      warnings: [],
    });
  });

  test("keeps the names of classes and functions", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "other.ts":
        "export class Model {}\nexport function route() {}\nexport const choose = () => {};",
      "agent.ts":
        'import * as other from "./other.ts";\nclass Model {}\nfunction route() {}\nconst choose = () => {};\nexport const graph = [Model, route, choose, ...Object.values(other)].map(({ name }) => name);',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });
    await build(folder);
    const names = await graphOf(await load(folder), "agent");
    expect(names).toEqual(["Model", "route", "choose", "Model", "choose", "route"]);
  });

  test("contains the project's authorisation", async ({ expect }) => {
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
        exportName: "auth",
        studio: true,
        cache: { headers: ["cookie"], ttl_ms: 60_000, max_size: 5 },
      },
    });
    expect(await GraphHost.auth?.load()).toEqual({
      auth: { "~handlerCache": { authenticate: "somehow" } },
    });
    expect(inputs).toContain(join(folder, "auth.ts"));
  });

  test("can contain an auth module that only a Worker can evaluate", async ({ expect }) => {
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

  test("evaluates a graph's module on demand, and no other", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": `globalThis.evaluated = ["host"];\n${STUB_HOST}`,
      "agent.ts": `
        await new Promise((resolve) => setTimeout(resolve, 1));
        globalThis.evaluated.push("agent");
        export const graph = [...globalThis.evaluated];`,
      "broken.ts":
        'globalThis.evaluated.push("broken"); throw new Error("broken"); export const graph = 1;',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph", broken: "./broken.ts:graph" } },
    });

    await build(folder);
    const bundle = await load(folder);

    expect(await graphOf(bundle, "agent")).toEqual(["host", "agent"]);
    await expect(graphOf(bundle, "broken")).rejects.toThrow("broken");
    await expect(graphOf(bundle, "broken")).rejects.toThrow("broken");
  });

  test("gives modules paths below /bundle, beside the project's text files", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": `Object.assign(globalThis, { __threadworks_dirname: "/bundle" });\n${STUB_HOST}`,
      ".gitignore": "*.md\n!system.md\n!node_modules/\n",
      "data/.gitignore": "local.json",
      "data/local.json": "{}",
      "data/credentials.json": "{}",
      "other.langgraph.json": { env: { SECRET: "2" } },
      ".env": "SECRET=1",
      "src/agent.ts": `#!/usr/bin/env node
        import "node:fs";
        import { own } from "./own.js";
        import installed from "installed";
        const places = [import.meta.url, import.meta.dirname, __filename];
        export const graph = { places, own, installed };`,
      "src/own.js": 'const __dirname = "its own"; export const own = __dirname;',
      "node_modules/installed/package.json": { name: "installed", main: "index.js" },
      "node_modules/installed/index.js": "module.exports = __dirname;",
      "prompts/system.md": "Be brief.",
      "data/cities.json": ["Rome"],
      "private.md": "for nobody",
      "large.txt": "x".repeat(256 * 1024 + 1),
      "langgraph.json": { graphs: { agent: "./src/agent.ts:graph" }, env: { SECRET: "1" } },
    });

    const { files, warnings } = await build(folder);

    expect(await graphOf(await load(folder), "agent")).toEqual({
      places: ["file:///bundle/src/agent.ts", "/bundle/src", "/bundle/src/agent.ts"],
      own: "its own",
      installed: "/bundle",
    });
    expect(files).toEqual([
      { path: "data/cities.json", text: '["Rome"]' },
      { path: "prompts/system.md", text: "Be brief." },
    ]);
    expect(warnings).toEqual([expect.stringContaining("Graphs cannot read large.txt: at most")]);
  });

  test("prevents a package from running as the main program", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": `Object.assign(globalThis, { __threadworks_main: {} });\n${STUB_HOST}`,
      "node_modules/installed/package.json": { name: "installed", main: "index.js" },
      "node_modules/installed/index.js":
        "module.exports = [!module.parent, require.main === module];",
      "agent.ts": 'export { default as graph } from "installed";',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    await build(folder);

    expect(await graphOf(await load(folder), "agent")).toEqual([false, false]);
  });

  test("resolves variable imports to modules that the file lists and the project has installed", async ({
    expect,
  }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "node_modules/langchain/package.json": { name: "langchain", main: "index.js" },
      "node_modules/langchain/index.js": `
        const PROVIDERS = { a: { package: "provider-a" }, b: { package: "@langchain/provider-b" } };
        exports.model = async (name) => (await import(PROVIDERS[name].package)).model;
        exports.load = async (config) => (await import(config.package)).model;`,
      "node_modules/provider-a/package.json": { name: "provider-a", main: "index.js" },
      "node_modules/provider-a/index.js": 'exports.model = "model of a";',
      "agent.ts": 'export { load as graph } from "langchain";',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    await build(folder);
    const loadModel = (await graphOf(await load(folder), "agent")) as (
      of: object,
    ) => Promise<unknown>;

    expect(await loadModel({ package: "provider-a" })).toBe("model of a");
    await expect(loadModel({ package: "@langchain/provider-b" })).rejects.toMatchObject({
      code: "ERR_MODULE_NOT_FOUND",
      message: expect.stringContaining("npm install @langchain/provider-b"),
    });
  });

  test("contains only the used parts of zod, and its locales only if needed", async ({
    expect,
  }) => {
    const built = async (graph: string): Promise<{ value: unknown; text: string }> => {
      const folder = temporaryProject({
        "host.js": STUB_HOST,
        "agent.ts": `import { z } from "zod";\nexport const graph = ${graph};`,
        "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
      });
      symlinkSync(REPO_MODULES, join(folder, "node_modules"));
      await build(folder);
      return {
        value: await graphOf(await load(folder), "agent"),
        text: readFileSync(join(folder, "out/project.js"), "utf8"),
      };
    };
    const GERMAN = "Ungültige Eingabe";
    const plain = await built('z.string().safeParse("text").data');
    const german = await built(`(z.config(z.locales.de()), z.string().safeParse(1).error.message)`);
    const whole = await built("Object.keys(z).includes('locales')");
    expect(plain.value).toBe("text");
    expect(unescaped(plain.text)).not.toContain(GERMAN);
    expect(german.value).toContain(GERMAN);
    expect(whole.value).toBe(true);
    expect(unescaped(whole.text)).toContain(GERMAN);
  });

  test("uses a package's entry for Node if the browser's lacks an import", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "node_modules/lacking/package.json": {
        name: "lacking",
        exports: { ".": { browser: "./browser.mjs", import: "./node.mjs" } },
      },
      "node_modules/lacking/browser.mjs": "export const other = 1;",
      "node_modules/lacking/node.mjs":
        'export const wanted = "from the entry for Node"; export const also = 1;',
      "node_modules/unfit/package.json": { name: "unfit", main: "index.js" },
      "node_modules/unfit/index.js":
        'import { none } from "lacking"; import { nothing } from "lacking"; export const unfit = none ?? nothing;',
      "node_modules/emptied/package.json": {
        name: "emptied",
        main: "index.js",
        browser: { "./part.js": false },
      },
      "node_modules/emptied/index.js": 'module.exports = require("./part.js");',
      "node_modules/emptied/part.js": 'module.exports = "not emptied";',
      "agent.ts": `
        import { wanted, also } from "lacking";
        import emptied from "emptied";
        const unfit = await import("unfit").catch((error) => error.message);
        export const graph = [wanted, also, emptied, unfit];`,
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    const unfit = join(folder, "node_modules/unfit/index.js");
    expect((await build(folder)).warnings).toEqual([
      expect.stringContaining(`${unfit} will fail where it is reached: No matching export`),
    ]);
    expect(await graphOf(await load(folder), "agent")).toEqual([
      "from the entry for Node",
      1,
      "not emptied",
      expect.stringContaining(`${unfit} cannot be loaded`),
    ]);
  });

  test("fails only when a missing dependency of a package is reached", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "node_modules/optional/package.json": { name: "optional", main: "index.js" },
      "node_modules/optional/index.js": `
        exports.works = () => "works";
        exports.fails = () => require("not-installed/part");`,
      "agent.ts": 'import * as optional from "optional"; export const graph = optional;',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    const { warnings } = await build(folder);
    const { works, fails } = (await graphOf(await load(folder), "agent")) as Record<
      "works" | "fails",
      () => string
    >;

    expect(warnings).toEqual([
      "optional imports not-installed/part, which is not installed: code that reaches it will fail",
    ]);
    expect(works()).toBe("works");
    expect(fails).toThrow("Cannot find module 'not-installed/part'");
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
    const bundle = await load(folder);

    expect(await graphOf(bundle, "agent")).toBe("a/b");
    expect(await graphOf(bundle, "other")).toBe("b");
    const text = readFileSync(join(folder, "out/project.js"), "utf8");
    expect([...text.matchAll(/from "(?!node:)(.*)"/g)].map(([, name]) => name)).toEqual([]);
  });

  test("uses the project's own LangChain for the graph host's code, too", async ({ expect }) => {
    const folder = temporaryProject({
      "node_modules/@langchain/core/package.json": {
        version: "1.0.0",
        exports: { "./singletons": "./index.js", "./messages": "./index.js" },
      },
      "node_modules/@langchain/core/index.js": `
        export const copy = "the project's";
        export const AsyncLocalStorageProviderSingleton = {
          initializeGlobalInstance: () => { globalThis.seenByHost = copy; },
        };`,
      "host.js": `import ${JSON.stringify(MODULE_OF_HOST)};\n${STUB_HOST}`,
      "agent.ts": 'export { copy as graph } from "@langchain/core/messages";',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    await build(folder);
    const text = readFileSync(join(folder, "out/project.js"), "utf8");

    expect(text.match(/the project's/g)).toHaveLength(1);
    expect(text).toContain("globalThis.seenByHost");
  });

  test("uses this platform's LangChain for all code on request", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "node_modules/@langchain/core/package.json": { version: "0.1.0", main: "index.js" },
      "node_modules/@langchain/core/messages.js": 'export const AIMessage = "the project\'s";',
      "agent.ts": 'export { AIMessage as graph } from "@langchain/core/messages";',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    await build(folder, false, "ours");

    expect(await graphOf(await load(folder), "agent")).toBeTypeOf("function");
  });

  test("contains the schemas of the graphs' types", async ({ expect }) => {
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
    symlinkSync(REPO_MODULES, join(folder, "node_modules"));

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

  test("is made without schemas if the types cannot be read", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "agent.ts": 'export * from "./graph.js";',
      "graph.js": "export const graph = 1;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    const { warnings } = await build(folder, true);

    expect(warnings).toEqual([
      `no schemas could be read from the graphs' types: Failed to find export "graph"`,
    ]);
    expect(await graphOf(await load(folder), "agent")).toBe(1);
  });
});

describe("a project is refused", () => {
  test("with the graph and the export if the export is missing", async ({ expect }) => {
    const problem = await problemOf({
      "agent.ts": "export const other = 1;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph", good: "./agent.ts:other" } },
    });

    expect(problem).toBe(
      '<project> does not build:\n  graph "agent": <project>/agent.ts has no export named "graph"',
    );
  });

  test("if its auth names no export", async ({ expect }) => {
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
      "is not an Auth object of @langchain/langgraph-sdk/auth",
    ],
    ["is nothing", "export const auth = null;", "is not an Auth object of"],
    [
      "lets nobody in",
      'export const auth = { "~handlerCache": {} };',
      "has no authenticate handler, so that every request would be refused",
    ],
  ] as const)("if its auth %s", async ([, source, problem], { expect }) => {
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

  test("with the place of a missing module", async ({ expect }) => {
    const problem = await problemOf({
      "agent.ts": 'import "./gone.ts";\nexport const graph = 1;',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toBe(
      '<project> does not build:\n  agent.ts:1:8: Could not resolve "./gone.ts"',
    );
  });

  test("with the place, and what to do, if a package is not installed", async ({ expect }) => {
    const problem = await problemOf({
      "agent.ts": 'export { AIMessage as graph } from "@langchain/core/messages";',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toBe(
      '<project> does not build:\n  agent.ts:1:36: Could not resolve "@langchain/core/messages". ' +
        "Install it in <project>: npm install @langchain/core",
    );
  });

  test("with the place, and what to do, if a package of the repository has not been built", async ({
    expect,
  }) => {
    const problem = await problemOf({
      "node_modules/@app/shared/package.json": { name: "@app/shared", main: "dist/index.js" },
      "agent.ts": 'export { made as graph } from "@app/shared/graph";',
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toBe(
      '<project> does not build:\n  agent.ts:1:31: Could not resolve "@app/shared/graph". ' +
        "<project>/node_modules/@app/shared has no such module: run its build first",
    );
  });

  test("with the place if a file does not parse", async ({ expect }) => {
    const problem = await problemOf({
      "agent.ts": "export const graph = ;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toContain("agent.ts:1:22: ");
  });

  test("with the version if its own LangGraph is too old, and with both solutions", async ({
    expect,
  }) => {
    const problem = await problemOf({
      "node_modules/@langchain/langgraph/package.json": { version: "0.0.34" },
      "agent.ts": "export const graph = 1;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toBe(
      "<project> has @langchain/langgraph 0.0.34 installed, and 0.2.31 is the oldest that runs here. " +
        "Update it (npm install @langchain/langgraph@^0.2.31), " +
        "or build it on your machine with the version of this platform: --langgraph ours",
    );
  });

  for (const [lockfile, command] of [
    ["package-lock.json", "npm install"],
    ["pnpm-lock.yaml", "pnpm add"],
    ["yarn.lock", "yarn add"],
    ["bun.lock", "bun add"],
  ] as const) {
    test(`with the command of the package manager that wrote ${lockfile}`, async ({ expect }) => {
      const problem = await problemOf({
        [lockfile]: "",
        "agent.ts": "import 'not-installed'; export const graph = 1;",
        "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
      });

      expect(problem).toMatch(new RegExp(`Install it in <project>: ${command} not-installed$`));
    });
  }

  test("with versions that its packages of LangChain 0.3 take", async ({ expect }) => {
    const problem = await problemOf({
      "package.json": { dependencies: { "@langchain/anthropic": "^0.3.1" } },
      "node_modules/@langchain/anthropic/package.json": { version: "0.3.1" },
      "node_modules/@langchain/core/package.json": { version: "0.3.3" },
      "node_modules/@langchain/langgraph/package.json": { version: "0.2.8" },
      "agent.ts": "export const graph = 1;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toBe(
      "<project> has @langchain/langgraph 0.2.8 installed, and 0.2.31 is the oldest that runs here. " +
        "Update it within the versions that its other packages take: " +
        "npm install @langchain/langgraph@^0.2.31 @langchain/core@^0.3.29",
    );
  });

  test("with the version and one solution if a model's package is as old", async ({ expect }) => {
    const problem = await problemOf({
      "package.json": {
        dependencies: {
          "@langchain/openai": "^0.3.0",
          "@langchain/groq": "^1.0.0",
          other: "^0.1.0",
        },
      },
      "node_modules/@langchain/openai/package.json": { version: "0.3.17" },
      "node_modules/@langchain/groq/package.json": { version: "1.0.2" },
      "node_modules/other/package.json": { version: "0.1.0" },
      "node_modules/@langchain/core/package.json": { version: "0.2.36" },
      "agent.ts": "export const graph = 1;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

    expect(problem).toBe(
      "<project> has @langchain/core 0.2.36 installed, and 0.3.29 is the oldest that runs here. " +
        "Update it, and the packages made for the same LangChain: " +
        "npm install @langchain/core@latest @langchain/openai@latest",
    );
  });
});
