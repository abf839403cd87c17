import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkNode, type Finding } from "../../cli/doctor/checks.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { threadworks } from "../support/threadworks-command.ts";
import { makeWorkspace } from "../support/workspaces.ts";
import { temporaryProject } from "../unit/cli/support/temporary-project.ts";

const test = testWithSharedServer();

const INSTALLED = resolve(import.meta.dirname, "../../node_modules");

const AGENT = `
import { Annotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ said: Annotation }))
  .addNode("say", () => ({ said: "hello" }))
  .addEdge("__start__", "say")
  .compile();
`;

/** Writes a project with this repository's packages, of which `@langchain/openai` needs a key. */
function project(files: Record<string, string | object>): string {
  const folder = temporaryProject({ "agent.js": AGENT, ...files });
  symlinkSync(INSTALLED, join(folder, "node_modules"));
  return folder;
}

const GRAPHS = { agent: "./agent.js:graph" };

type Examined = { code: number | null; ok: string[]; problems: string[] };

async function doctor(
  folder: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Examined> {
  const command = ["doctor", folder, "--json", ...args];
  const { code, stdout, stderr } = await threadworks(command, { env });
  if (stderr !== "") throw new Error(stderr);
  const findings = JSON.parse(stdout) as Finding[];
  const texts = (isOk: boolean) => findings.filter(({ ok }) => ok === isOk).map(({ text }) => text);
  return { code, ok: texts(true), problems: texts(false) };
}

const NODE = `Node.js ${process.versions.node}`;

test("doctor finds no problem in a complete project, and reports its checks line by line", async ({
  server,
  expect,
}) => {
  const { apiKey } = await makeWorkspace(server, "healthy");
  const folder = project({
    "langgraph.json": { graphs: GRAPHS, env: ".env" },
    ".env": "OPENAI_API_KEY=known",
  });
  const asked = ["--host-url", server.url, "--api-key", apiKey];
  const { code, stdout } = await threadworks(["doctor", folder, ...asked]);
  expect(stdout.split("\n")).toEqual([
    `ok       ${NODE}`,
    `ok       ${join(folder, "langgraph.json")} names agent`,
    "ok       the graphs build and load",
    "ok       OPENAI_API_KEY is set for @langchain/openai",
    "ok       the platform answers, and takes the key",
    "",
  ]);
  expect(code).toBe(0);
});

test("doctor names each thing that a project lacks", async ({ server, expect }) => {
  const folder = project({ "langgraph.json": { graphs: GRAPHS, grphs: {} } });
  const examined = await doctor(folder, ["--host-url", server.url, "--api-key", "tw_us_wrong"]);
  expect(examined).toEqual({
    code: 1,
    ok: [NODE, `${join(folder, "langgraph.json")} names agent`],
    problems: [
      expect.stringContaining("grphs"),
      "@langchain/openai is installed, and OPENAI_API_KEY is not set: put it into .env",
      expect.stringMatching(/^the platform: .*\(the key is that of --api-key\)$/),
    ],
  });
});

test("doctor names a graph that does not load or build, and does not report it as working", async ({
  expect,
}) => {
  for (const [code, told] of [
    ['export const graph = JSON.parse("no JSON");', /graph "agent".*no JSON/],
    ["export const graph = ;", /agent\.js:1/],
  ] as const) {
    const folder = project({ "langgraph.json": { graphs: GRAPHS }, "agent.js": code });
    const { ok, problems } = await doctor(folder, [], { OPENAI_API_KEY: "sk-shell" });
    expect(ok).toEqual([
      NODE,
      `${join(folder, "langgraph.json")} names agent`,
      expect.stringMatching(
        /^OPENAI_API_KEY is set for @langchain\/openai, in this shell: a deploy/,
      ),
    ]);
    expect(problems[0]).toMatch(told);
    // The command was given no platform, and none serves this folder.
    expect(problems.at(-1)).toMatch(/^the platform: which platform\?/);
  }
});

test("doctor says how to make a project where there is none, and contacts no account unless told to", async ({
  expect,
}) => {
  const folder = temporaryProject({});
  const nothing = await doctor(folder);
  expect(nothing.code).toBe(1);
  expect(nothing.ok).toEqual([NODE]);
  expect(nothing.problems).toEqual([
    expect.stringMatching(/langgraph\.json.*: npx threadworks init makes a project$/s),
    expect.stringMatching(/^the platform: .*langgraph\.json/s),
  ]);
  const { problems } = await doctor(folder, ["--account"]);
  expect(problems).toEqual([
    ...nothing.problems,
    expect.stringMatching(/^the account: .*langgraph\.json/s),
  ]);
});

test.for([
  ["18.20.4", false],
  ["20.15.1", false],
  ["20.16.0", true],
  ["22.3.0", true],
] as const)("doctor accepts or refuses Node.js %s: %s", ([version, ok], { expect }) => {
  const advice = ok ? "" : " is too old: install 20.16 or later";
  expect(checkNode(version)).toEqual({ ok, text: `Node.js ${version}${advice}` });
});
