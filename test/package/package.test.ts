import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { Client } from "@langchain/langgraph-sdk";
import { test as base } from "vitest";
import { asked, said } from "../real-projects/support/messages.ts";
import { modelVariables, startModels } from "../real-projects/support/model-server.ts";
import { createPackage, installedPackage, oldestNode } from "./support/installed-package.ts";
import { installedBytes } from "./support/installed-size.ts";
import { servedUrl, userProject } from "./support/user-project.ts";

const MB = 1024 * 1024;
const FORECAST = "It is sunny in Oslo, as ever.";

const AGENT = `
import { createAgent, tool } from "langchain";
import { z } from "zod";

const getWeather = tool(({ city }: { city: string }) => \`It is always sunny in \${city}!\`, {
  name: "get_weather",
  description: "Get the weather of a city",
  schema: z.object({ city: z.string() }),
});

export const agent = createAgent({ model: "openai:gpt-4.1-mini", tools: [getWeather] });
`;

const ANSWERED = [
  ["human", "The weather in Oslo?"],
  ["ai", [{ name: "get_weather", args: { city: "Oslo" } }]],
  ["tool", "It is always sunny in Oslo!"],
  ["ai", FORECAST],
];

function answer(models: LLMock): void {
  models
    .on(
      { userMessage: "weather", hasToolResult: false },
      { toolCalls: [{ name: "get_weather", arguments: '{"city":"Oslo"}' }] },
    )
    .on({ userMessage: "weather", hasToolResult: true }, { content: FORECAST });
}

const test = base
  .extend("answer", { scope: "file" }, () => answer)
  .extend("models", { scope: "file" }, async ({ answer: tell }, { onCleanup }) => {
    const models = await startModels();
    onCleanup(() => models.stop());
    tell(models);
    return models;
  })
  .extend("project", { scope: "file" }, async ({ models }, { onCleanup }) => {
    const project = userProject({
      "package.json": { name: "weather", private: true },
      "langgraph.json": { graphs: { agent: "./agent.ts:agent" }, env: modelVariables(models) },
      "agent.ts": AGENT,
    });
    onCleanup(() => project.remove());
    return project;
  })
  .extend("served", { scope: "file" }, async ({ project }) => {
    const running = project.start("npx", ["threadworks", "dev", "--port", "0"]);
    return { running, url: await servedUrl(running) };
  });

function clientOf(apiUrl: string): Client {
  return new Client({ apiUrl, callerOptions: { maxRetries: 0 } });
}

test("the tarball has at most 10 MB, and its installation at most 300", ({ expect }) => {
  expect(statSync(installedPackage().tarball).size).toBeLessThan(10 * MB);
  const bytes = installedBytes(installedPackage().installed, "threadworks");
  // A size below that of the runtime alone would mean that files were missed.
  expect(bytes).toBeGreaterThan(150 * MB);
  expect(bytes).toBeLessThan(300 * MB);
});

test(`npx threadworks dev serves a project of one file, on Node ${oldestNode().version}`, async ({
  project,
  served,
  expect,
}) => {
  const values = await clientOf(served.url).runs.wait(null, "agent", {
    input: asked("The weather in Oslo?"),
  });
  expect(said(values)).toEqual(ANSWERED);
  expect(readdirSync(join(project.folder, ".threadworks"))).toContain("state");
  expect(await (await fetch(`${served.url}/console`)).text()).toContain("<script");
  expect(served.running.output.stderr).toBe("");
});

test("npx threadworks dev reads the schemas of the project's types", async ({ served, expect }) => {
  const client = clientOf(served.url);
  const [assistant] = await client.assistants.search({ graphId: "agent" });
  await expect
    .poll(() => client.assistants.getSchemas(assistant?.assistant_id ?? ""), { timeout: 120_000 })
    .toMatchObject({ input_schema: { properties: { messages: expect.anything() } } });
});

test("npx threadworks deploy rolls the project out there, and the deployment answers", async ({
  project,
  served,
  expect,
}) => {
  // The command finds the platform that serves the folder, and its key.
  expect(served.url).toMatch(/^http/);
  const { code, stdout, stderr } = await project.run("npx", [
    "threadworks",
    "deploy",
    "--no-input",
  ]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const listed = await project.run("npx", ["threadworks", "list", "--json"]);
  expect(listed.code).toBe(0);
  const apiKey = /API key\s+(\S+)/.exec(served.running.output.stdout)?.[1] ?? "";
  const deployed = new Client({
    apiUrl: stdout.trim(),
    apiKey,
    callerOptions: { maxRetries: 0 },
  });
  const values = await deployed.runs.wait(null, "agent", { input: asked("The weather in Oslo?") });
  expect(said(values)).toEqual(ANSWERED);
});

test("npx threadworks doctor finds nothing wrong, and says what to do about a problem", async ({
  project,
  served,
  expect,
}) => {
  expect(served.url).toMatch(/^http/);
  const { code, stdout } = await project.run("npx", ["threadworks", "doctor"]);
  expect({ code, stdout }).toMatchObject({ code: 0 });
  for (const text of ["the graphs build and load", "OPENAI_API_KEY is set", "takes the key"]) {
    expect(stdout).toContain(text);
  }

  expect(await firstProblem("./gone.ts:agent")).toContain("gone.ts");

  writeFileSync(join(project.folder, "throws.ts"), 'export const agent = JSON.parse("no JSON");');
  const thrown = await firstProblem("./throws.ts:agent");
  for (const text of ['graph "agent"', "no JSON", "throws.ts:1"]) expect(thrown).toContain(text);

  async function firstProblem(graph: string): Promise<string | undefined> {
    const config = JSON.stringify({ graphs: { agent: graph } });
    writeFileSync(join(project.folder, "langgraph.json.broken"), config);
    const args = ["threadworks", "doctor", "--config", "langgraph.json.broken", "--json"];
    const wrong = await project.run("npx", args);
    expect(wrong.code).toBe(1);
    const findings = JSON.parse(wrong.stdout) as { ok: boolean; text: string }[];
    return findings.find(({ ok }) => !ok)?.text;
  }
});

test("the package has the licences of all packages that are bundled into it", ({ expect }) => {
  const folder = join(installedPackage().installed, "node_modules/threadworks");
  const sections = new Map(
    readFileSync(join(folder, "THIRD-PARTY-LICENSES"), "utf8")
      .split(/\n-{80}\n/)
      .slice(1)
      .map((section) => [/^\S+/.exec(section)?.[0], section]),
  );
  const modules = join(import.meta.dirname, "../../node_modules");
  // These packages are in the Worker, the graph host's templates, the console, the builder and the commands.
  for (const name of ["hono", "zod", "@langchain/langgraph", "react", "enhanced-resolve"]) {
    const terms = readFileSync(join(modules, name, "LICENSE"), "utf8").trim();
    expect(sections.get(name)).toContain(terms);
  }
  expect(sections.get("commander")).toContain("License: MIT");

  const { sources } = JSON.parse(readFileSync(join(folder, "built/worker.js.map"), "utf8")) as {
    sources: string[];
  };
  // Files that a dependency had bundled before keep the names that they had there.
  const built = join(import.meta.dirname, "../../dist/package/built");
  const read = sources.filter((path) => existsSync(join(built, path)));
  const inWorker = new Set(
    read.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  );
  expect(inWorker.size).toBeGreaterThan(20);
  expect([...inWorker].filter((name) => !sections.has(name))).toEqual([]);

  const created = readFileSync(join(createPackage(), "THIRD-PARTY-LICENSES"), "utf8");
  expect(created).toMatch(/^commander \S+\n\nLicense: MIT\n/m);
});

test("the compile cache of one start is there at the next", ({ expect }) => {
  const { installed } = installedPackage();
  const compiled = join(installed, "node_modules/.cache/threadworks/compiled");
  // Commands of other tests write to the folder, too.
  rmSync(compiled, { recursive: true, force: true, maxRetries: 10 });
  const bin = join(installed, "node_modules/threadworks/cli/bin.js");
  // This needs a Node with a compile cache, which the oldest may not have, and no other cache directory in the
  // environment.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const { status } = spawnSync(process.execPath, [bin, "--help"], { env });
  expect(status).toBe(0);
  const files = readdirSync(compiled, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  expect(Math.max(...sizes)).toBeGreaterThan(10_000);
});

test("a project with components learns which package bundles them", async ({ project, expect }) => {
  const config = { graphs: { agent: "./agent.ts:agent" }, ui: { agent: "./ui.tsx" } };
  writeFileSync(join(project.folder, "langgraph.json.ui"), JSON.stringify(config));
  writeFileSync(join(project.folder, "ui.tsx"), "export default {};");
  const built = await project.run("npx", ["threadworks", "build", "--config", "langgraph.json.ui"]);
  expect(built.code).toBe(1);
  expect(built.stderr).toMatch(/^error: .*npm install --save-dev @langchain\/langgraph-ui$/m);
});

test("a folder is served only once, and again with its threads after its server was killed", async ({
  project,
  served,
  expect,
}) => {
  const { thread_id } = await clientOf(served.url).threads.create({ metadata: { kept: true } });
  const second = await project.run("npx", ["threadworks", "dev", "--port", "0"]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`which serves ${served.url.replace("localhost", "127.0.0.1")}`);

  await served.running.kill();
  const again = project.start("npx", ["threadworks", "dev", "--port", "0"]);
  const url = await servedUrl(again);
  expect(await clientOf(url).threads.get(thread_id)).toMatchObject({ metadata: { kept: true } });

  const pid = Number(/"pid":(\d+)/.exec(readOwner(project.folder))?.[1]);
  process.kill(pid, "SIGTERM");
  await again.ended;
  expect(existsSync(join(project.folder, ".threadworks/state/run/owner.json"))).toBe(false);
});

function readOwner(folder: string): string {
  return readFileSync(join(folder, ".threadworks/state/run/owner.json"), "utf8");
}
