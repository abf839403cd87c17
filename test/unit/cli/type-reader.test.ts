import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, test } from "vitest";
import { extractSchemas } from "../../../cli/project/extract-schemas.ts";
import { loadProjectConfig } from "../../../cli/project/langgraph-json.ts";
import { bundleTypeReader } from "../../../cli/type-reader/build-type-reader.ts";
import { packArchive } from "../../../src/lib/package-archive.ts";
import type { ReadSchemas, TypesRequest } from "../../../src/lib/remote-types.ts";
import { REPO_ROOT } from "../../support/built-fixtures.ts";
import { comparable } from "../../support/comparable-schemas.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const TIMEOUT_MS = 300_000;

/** The heap for the compiler's objects, of an isolate's 128 MB; code and texts need the rest. */
const HEAP_MB = 96;

const FOLDER = mkdtempSync(join(tmpdir(), "threadworks-type-reader-"));
const READER = join(FOLDER, "reader.mjs");
beforeAll(async () => {
  const { text } = await bundleTypeReader(
    join(import.meta.dirname, "support/type-reader-thread.ts"),
  );
  writeFileSync(READER, text);
}, TIMEOUT_MS);
afterAll(() => rmSync(FOLDER, { recursive: true }));

type Files = Record<string, string>;

/** This repository's packages, without those for types alone, which builds on the platform do not install. */
const INSTALLED: TypesRequest["packages"] = installedPackages();

function installedPackages(): TypesRequest["packages"] {
  const text = readFileSync(join(REPO_ROOT, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { packages: Record<string, { version?: string }> };
  return Object.entries(packages).flatMap(([folder, { version = "" }]) => {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(folder) ?? [];
    if (name === undefined || name.startsWith("@types/")) return [];
    return [{ folder: `/repository/${folder}`, locked: { name, version, integrity: null } }];
  });
}

/** Reads the types of files below `/repository` in a thread with the heap size of an isolate. */
async function read(own: Files, graphs: string[]): Promise<ReadSchemas & { asked: string[] }> {
  const encoder = new TextEncoder();
  const request: TypesRequest = {
    sources: packArchive(
      Object.entries(own).map(([path, text]) => ({
        path: `/repository/${path}`,
        bytes: encoder.encode(text),
      })),
    ),
    projectDir: "/repository",
    graphs: graphs.map((id) => ({ id, file: `/repository/${id}.ts`, exportName: "graph" })),
    packages: INSTALLED,
    links: [],
  };
  const thread = new Worker(READER, {
    workerData: { request, root: REPO_ROOT },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 4 },
  });
  try {
    const [answer] = (await once(thread, "message")) as [ReadSchemas & { asked: string[] }];
    return answer;
  } finally {
    await thread.terminate();
  }
}

async function readLocally(own: Files, graphs: string[]): Promise<ReadSchemas> {
  const entries = graphs.map((id) => [id, `./${id}.ts:graph`] as const);
  const folder = temporaryProject({
    ...own,
    "langgraph.json": { graphs: Object.fromEntries(entries) },
  });
  const project = loadProjectConfig(folder);
  const sources = project.graphs.map(({ file }) => file);
  const signal = new AbortController().signal;
  return extractSchemas({ project, sources }, { repoRoot: REPO_ROOT, signal });
}

const ANNOTATED = `
import { Annotation, StateGraph } from "@langchain/langgraph";
import type { Document } from "@langchain/core/documents";
import type { Step } from "./steps.ts";
const State = Annotation.Root({
  /** What it is about. */
  topic: Annotation<string>,
  steps: Annotation<Step[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  first: Annotation<Step | null>,
  documents: Annotation<Document[]>,
});
const Context = Annotation.Root({ model: Annotation<"small" | "large"> });
export const graph = new StateGraph(State, Context)
  .addNode("work", () => ({ topic: "done" }))
  .addEdge("__start__", "work")
  .compile();
`;

const INTERFACES = `
import { START, StateGraph } from "@langchain/langgraph";
import type { Step } from "./steps.ts";
interface State { owner: string | null; steps: Step[]; tags: Record<string, number>; when: Date }
export const graph = new StateGraph<State>({
  channels: { owner: null, steps: null, tags: null, when: null },
})
  .addNode("work", async () => ({ owner: "me" }))
  .addEdge(START, "work")
  .compile();
`;

const MESSAGES = `
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
const child = new StateGraph(MessagesAnnotation)
  .addNode("say", () => ({ messages: [] }))
  .addEdge("__start__", "say")
  .compile();
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("child", child)
  .addEdge("__start__", "child")
  .compile();
`;

const ZOD = `
import { StateGraph } from "@langchain/langgraph";
import { z } from "zod";
const State = z.object({ topic: z.string(), deep: z.object({ list: z.array(z.enum(["a", "b"])) }) });
export const graph = new StateGraph(State)
  .addNode("work", () => ({ topic: "done" }))
  .addEdge("__start__", "work")
  .compile();
`;

const AGENT = `
import { createAgent, tool } from "langchain";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
const add = tool(({ a, b }) => String(a + b), {
  name: "add",
  description: "Adds",
  schema: z.object({ a: z.number(), b: z.number() }),
});
export const graph = createAgent({ model: new ChatOpenAI({ apiKey: "none" }), tools: [add] });
`;

const STEPS = `
/** One step of a plan. */
export interface Step { title: string; done?: boolean; kind: "read" | "write" | 3; parts: Step[] }
`;

describe("in the memory of an isolate", { timeout: TIMEOUT_MS }, () => {
  test.for([
    ["an annotation with types of the project", "annotated", ANNOTATED],
    ["interfaces", "interfaces", INTERFACES],
    ["messages, and those of a subgraph", "messages", MESSAGES],
    ["zod", "zod", ZOD],
    ["an agent with a provider", "agent", AGENT],
  ] as const)(
    "the schemas of %s equal those that are read on a machine",
    async ([, id, text], { expect }) => {
      const own = { [`${id}.ts`]: text, "steps.ts": STEPS };
      const { schemas, warnings, asked } = await read(own, [id]);
      const local = await readLocally(own, [id]);

      expect(warnings).toEqual([]);
      expect(Object.keys(schemas[id] ?? {})).toContain(id);
      expect(comparable(schemas)).toEqual(comparable(local.schemas));
      expect(asked).not.toContain("openai");
      expect(asked).not.toContain("langsmith");
    },
  );

  test("excessive types are left out, those of other packages than LangChain's first", async ({
    expect,
  }) => {
    const large = `import OpenAI from "openai";\nexport const client = new OpenAI();\n${ZOD}`;
    const some = await read({ "large.ts": large }, ["large"]);
    expect(some.warnings).toEqual([
      "The packages that the graphs import have too many types: those of packages other than LangChain's are left out of the schemas",
    ]);
    expect(some.schemas["large"]?.["large"]?.["input"]).toMatchObject({
      properties: { topic: { type: "string" } },
    });

    const words = Array.from(
      { length: 40_000 },
      (_, n) => `export type Word${n} = "${n}" | { word: ${n} };`,
    );
    const own = {
      "large.ts": `import type { Word1 } from "./words.ts";${ZOD}`,
      "words.ts": words.join("\n").repeat(2),
    };
    expect(await read(own, ["large"])).toMatchObject({
      schemas: {},
      warnings: [
        "no schemas could be read from the graphs' types: the types have more than 2.5 MB",
      ],
    });
  });

  test("an error in one graph is reported, and the others have their schemas", async ({
    expect,
  }) => {
    const own = { "good.ts": ZOD, "bad.ts": "export const other = 1;" };
    const { schemas, warnings } = await read(own, ["good", "bad"]);
    expect(Object.keys(schemas)).toEqual(["good"]);
    expect(warnings).toEqual([
      `no schemas could be read from the types of graph "bad": Failed to find export "graph"`,
    ]);
  });
});
