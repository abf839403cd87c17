import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, onTestFinished, test, vi } from "vitest";
import { findSchemas } from "../../../cli/project/extract-schemas.ts";
import { loadProjectConfig } from "../../../cli/project/langgraph-json.ts";
import { cacheKey } from "../../../cli/project/schema-cache.ts";
import type { ReadSchemas } from "../../../src/lib/remote-types.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../../..");
const TIMEOUT_MS = 300_000;

const TYPED_GRAPH = `
import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ topic: Annotation<string> });
export const graph = new StateGraph(State)
  .addNode("work", () => ({ topic: "done" }))
  .addEdge("__start__", "work")
  .compile();
`;

/** Looks for the schemas of a project, to be read until its signal is aborted. */
function find(folder: string, signal = new AbortController().signal) {
  const project = loadProjectConfig(folder);
  const sources = project.graphs.map(({ file }) => file);
  return findSchemas({ project, sources }, { repoRoot: REPO_ROOT, signal });
}

/** Returns the files of the cache, and the mirrors that TypeScript reads. */
function cached(): string[] {
  return readdirSync(join(REPO_ROOT, ".threadworks/cache"));
}

/** Returns the processes that read types for another one. */
function extractorsOf(parent: number | undefined): string[] {
  const processes = execFileSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" }).split("\n");
  return processes.filter(
    (line) => !line.startsWith("Z") && line.endsWith(`schema-extractor-process.ts ${parent}`),
  );
}

describe("schemas of types", { timeout: TIMEOUT_MS }, () => {
  test("are read once for the graphs that have some, with warnings about the others", async ({
    expect,
  }) => {
    const folder = temporaryProject({
      "good.ts": TYPED_GRAPH,
      "broken.ts": 'export * from "./graph.js";',
      "graph.js": "export const graph = 1;",
      "langgraph.json": { graphs: { good: "./good.ts:graph", broken: "./broken.ts:graph" } },
    });

    const first = await find(folder);
    const read = "read" in first ? await first.read() : expect.unreachable("it was known");
    const second = await find(folder);

    const expected: ReadSchemas = {
      schemas: {
        good: {
          good: expect.objectContaining({
            input: expect.objectContaining({ properties: { topic: { type: "string" } } }),
          }),
        },
      },
      warnings: [
        `no schemas could be read from the types of graph "broken": Failed to find export "graph"`,
      ],
    };
    expect(read).toEqual(expected);
    expect(second).toEqual({ known: read });
  });

  test("are no longer read when the caller aborts, which is not cached as a failure", async ({
    expect,
  }) => {
    const folder = temporaryProject({
      "agent.ts": TYPED_GRAPH,
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });
    const ended = new AbortController();
    const first = await find(folder, ended.signal);
    const reading = "read" in first ? first.read() : expect.unreachable("it was known");

    await vi.waitFor(() => expect(extractorsOf(process.pid)).toHaveLength(1), 120_000);
    ended.abort(new Error("closed"));

    await expect(reading).rejects.toThrow("closed");
    await vi.waitFor(() => expect(extractorsOf(process.pid)).toEqual([]), 120_000);
    expect(cached().filter((name) => name.includes(`-${process.pid}-`))).toEqual([]);
    const again = new AbortController();
    const next = await find(folder, again.signal);
    expect(next).toHaveProperty("read");
    again.abort(new Error("closed"));
    if ("read" in next) await expect(next.read()).rejects.toThrow("closed");
  });

  test("are read by a process that ends with its parent", async ({ expect }) => {
    const folder = temporaryProject({
      "agent.ts": TYPED_GRAPH,
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });
    const reader = fork(join(import.meta.dirname, "support/schema-reader-process.ts"), [folder]);
    onTestFinished(() => void reader.kill("SIGKILL"));
    await once(reader, "message");
    await vi.waitFor(() => expect(extractorsOf(reader.pid)).toHaveLength(1), 120_000);

    reader.kill("SIGKILL");

    await vi.waitFor(() => expect(extractorsOf(reader.pid)).toEqual([]), 120_000);
  });

  test("are empty at once for a project without TypeScript", async ({ expect }) => {
    const folder = temporaryProject({
      "agent.js": "export const graph = 1;",
      "langgraph.json": { graphs: { agent: "./agent.js:graph" } },
    });

    expect(await find(folder)).toEqual({ known: { schemas: {}, warnings: [] } });
  });
});

test("schemas are cached for the same sources, options and packages only", ({ expect }) => {
  const folder = temporaryProject({
    "agent.ts": 'import type { Item } from "./types.ts"; export const graph: Item = 1;',
    "types.ts": "export type Item = number;",
    "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    "node_modules/.package-lock.json": { packages: {} },
  });
  const project = loadProjectConfig(folder);
  const key = (): string => cacheKey(project, [join(folder, "agent.ts")], dirname(folder));
  const keys = [key(), key()];

  writeFileSync(join(folder, "types.ts"), "export type Item = 1;");
  keys.push(key());
  writeFileSync(join(folder, "tsconfig.json"), "{}");
  keys.push(key());
  writeFileSync(join(folder, "node_modules/.package-lock.json"), '{"packages":{"a":{}}}');
  keys.push(key());

  expect(keys[1]).toBe(keys[0]);
  expect(new Set(keys).size).toBe(4);
});

test("cached schemas are invalid after a change of a type that has a path in tsconfig.json", ({
  expect,
}) => {
  const folder = temporaryProject({
    "agent.ts": [
      'import type { Item } from "@/item.js";',
      'import type { List } from "#list";',
      'import { join } from "node:path";',
      'import type { Gone } from "@/gone";',
      "export const graph: List = [];",
    ].join("\n"),
    "src/item.ts": "export type Item = number;",
    "src/list.d.ts": "export type List = string[];",
    "tsconfig.base.json": { compilerOptions: { paths: { "@/*": ["./src/*"] } } },
    "tsconfig.json": '{ /* As people write it. */ "extends": "./tsconfig.base.json", }',
    "package.json": { imports: { "#list": "./src/list.d.ts" } },
    "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
  });
  const project = loadProjectConfig(folder);
  const key = (): string => cacheKey(project, [join(folder, "agent.ts")], dirname(folder));
  const keys = [key(), key()];

  writeFileSync(join(folder, "src/item.ts"), "export type Item = 1;");
  keys.push(key());
  writeFileSync(join(folder, "src/list.d.ts"), "export type List = 1[];");
  keys.push(key());

  expect(keys[1]).toBe(keys[0]);
  expect(new Set(keys).size).toBe(3);
});
