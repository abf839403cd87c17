import { globSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { onTestFinished, test, vi } from "vitest";
import { seedState } from "../support/built-fixtures.ts";
import { startThreadworks, threadworks } from "../support/threadworks-command.ts";
import { temporaryProject } from "../unit/cli/support/temporary-project.ts";

const TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 120_000;
const SCHEMAS_TIMEOUT_MS = 120_000;
const REPO_ROOT = resolve(import.meta.dirname, "../..");
const CACHE = join(REPO_ROOT, ".threadworks/cache");

/** Writes a project that has LangGraph installed. */
function installedProject(files: Record<string, string | object>): string {
  const folder = temporaryProject(files);
  symlinkSync(join(REPO_ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Returns a state folder for which the Worker is bundled already. */
function builtState(): string {
  const folder = temporaryProject({});
  seedState(folder);
  return folder;
}

/** Returns a module whose graph logs the location of its fourth line, or of a later one below other lines. */
function agent(word: string, above = ""): string {
  return `${above}
import { Annotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ said: Annotation }))
  .addNode("say", () => (console.error(new Error("${word}")), { said: "${word} " + process.env.WHO }))
  .addEdge("__start__", "say")
  .compile();
`;
}

test(
  "dev serves the project of a folder, reloads it, and ends on a signal",
  async ({ expect }) => {
    const folder = installedProject({
      "langgraph.json": { graphs: { agent: "./agent.js:graph" }, env: { WHO: "you" } },
      "agent.js": agent("hello"),
    });
    const stateDir = temporaryProject({});
    const args = ["dev", ".", "--port", "0", "--state", stateDir, "--var", "AGENT_AUTH=none"];
    const { child, output, ended } = startThreadworks(args, { cwd: folder });
    onTestFinished(() => void child.kill("SIGKILL"));
    const printed = (pattern: RegExp): Promise<string> =>
      vi.waitFor(() => pattern.exec(output.stdout)?.[1] ?? expect.unreachable(output.stderr), {
        timeout: START_TIMEOUT_MS,
      });

    const url = await printed(/^ready {2}(\S+)$/m);
    const client = new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } });
    expect(await client.runs.wait(null, "agent", { input: {} })).toEqual({ said: "hello you" });
    await printed(/^Error: hello\n {4}at .*agent\.js:(4):\d+/m);

    writeFileSync(join(folder, "agent.js"), agent("goodbye", "// A line above\n"));
    await printed(/^reloaded: (agent)$/m);
    expect(await client.runs.wait(null, "agent", { input: {} })).toEqual({ said: "goodbye you" });
    await printed(/^Error: goodbye\n {4}at .*agent\.js:(5):\d+/m);

    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
  },
  TIMEOUT_MS,
);

const TYPED_AGENT = `
import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ said: Annotation<string> });
export const graph = new StateGraph(State)
  .addNode("say", () => ({ said: "hello" }))
  .addEdge("__start__", "say")
  .compile();
`;

/** A graph that fails to load in its third line. */
const BROKEN_AGENT = `
function make(): never {
  throw new Error("no model is configured");
}
export const graph = make();
`;

test(
  "dev reports which graph does not load and where, serves the others, and gets their schemas later",
  async ({ expect }) => {
    const folder = installedProject({
      "langgraph.json": { graphs: { agent: "./agent.ts:graph", broken: "./broken.ts:graph" } },
      "agent.ts": TYPED_AGENT,
      "broken.ts": BROKEN_AGENT,
    });
    const stateDir = builtState();
    const args = ["dev", ".", "--port", "0", "--state", stateDir, "--var", "AGENT_AUTH=none"];
    const { child, output, ended } = startThreadworks(args, { cwd: folder });
    onTestFinished(() => void child.kill("SIGKILL"));
    const told = (graph: string): Promise<void> =>
      vi.waitFor(
        () =>
          expect(output.stderr).toMatch(
            new RegExp(
              `^error: graph "${graph}": no model is configured\\n {4}at make \\(${graph}\\.ts:3:\\d+\\)$`,
              "m",
            ),
          ),
        { timeout: START_TIMEOUT_MS },
      );
    const workerd = (): string[] =>
      globSync(join(stateDir, "run/workerd-*.pid")).map((file) => readFileSync(file, "utf8"));

    await told("broken");
    const url = await vi.waitFor(
      () => /^ready {2}(\S+)$/m.exec(output.stdout)?.[1] ?? expect.unreachable(output.stderr),
      { timeout: START_TIMEOUT_MS },
    );
    const atStart = workerd();
    const client = new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } });
    expect(await client.runs.wait(null, "agent", { input: {} })).toEqual({ said: "hello" });
    await vi.waitFor(
      async () =>
        expect((await client.assistants.getSchemas("agent")).state_schema).toMatchObject({
          properties: { said: { type: "string" } },
        }),
      { timeout: SCHEMAS_TIMEOUT_MS, interval: 500 },
    );
    expect(workerd()).toEqual(atStart);

    writeFileSync(join(folder, "agent.ts"), BROKEN_AGENT);
    await told("agent");
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
    expect(readdirSync(CACHE).filter((name) => name.includes(`-${child.pid}-`))).toEqual([]);
  },
  TIMEOUT_MS,
);

const app = (word: string): string => `
export default { fetch: (request) => new Response("${word} " + new URL(request.url).pathname) };
`;

const card = (word: string): string => `export default { card: () => <b>${word}</b> };`;

test(
  "dev serves a project's own routes and components, reloads them, and reports why an app does not load",
  async ({ expect }) => {
    const folder = installedProject({
      "langgraph.json": {
        graphs: { agent: "./agent.js:graph" },
        http: { app: "./app.js" },
        ui: { agent: "./ui.tsx" },
        env: { WHO: "you" },
      },
      "agent.js": agent("hello"),
      "app.js": app("first"),
      "ui.tsx": card("first"),
    });
    const stateDir = builtState();
    const args = ["dev", ".", "--port", "0", "--state", stateDir, "--var", "AGENT_AUTH=none"];
    const { child, output, ended } = startThreadworks(args, { cwd: folder });
    onTestFinished(() => void child.kill("SIGKILL"));
    const url = await vi.waitFor(
      () => /^ready {2}(\S+)$/m.exec(output.stdout)?.[1] ?? expect.unreachable(output.stderr),
      { timeout: START_TIMEOUT_MS },
    );
    const answers = (path: string, text: string): Promise<void> =>
      vi.waitFor(async () => expect(await (await fetch(url + path)).text()).toContain(text), {
        timeout: START_TIMEOUT_MS,
        interval: 200,
      });

    await answers("/told", "first /told");
    await answers("/ui/agent/entrypoint.js", "first");
    writeFileSync(join(folder, "app.js"), app("second"));
    await answers("/told", "second /told");
    writeFileSync(join(folder, "ui.tsx"), card("second"));
    await answers("/ui/agent/entrypoint.js", "second");

    writeFileSync(join(folder, "app.js"), "export default 7;");
    await vi.waitFor(
      () =>
        expect(output.stderr).toMatch(
          /^error: "http\.app" must name a Hono app, or an object with a function "fetch"\n {4}in app\.js$/m,
        ),
      { timeout: START_TIMEOUT_MS },
    );
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
  },
  TIMEOUT_MS,
);

test("dev reports what is wrong with its options", async ({ expect }) => {
  const folder = temporaryProject({});
  expect(await threadworks(["dev", folder, "--state", folder, "--port", "0"])).toEqual({
    code: 1,
    stdout: "",
    stderr: `error: no project here: ${folder}/langgraph.json does not exist\n`,
  });
  const both = await threadworks(["dev", folder, "--config", folder]);
  expect(both.stderr).toBe("error: name the project by its folder or by --config, not by both\n");
});
