import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { onTestFinished, test as base, vi } from "vitest";
import { PlatformProcess } from "../restart/support/platform-process.ts";
import {
  startThreadworks,
  threadworks,
  type CommandResult,
} from "../support/threadworks-command.ts";
import { temporaryProject } from "../unit/cli/support/temporary-project.ts";

/** A project brings its own LangGraph: here it is that of this repository. */
const INSTALLED = resolve(import.meta.dirname, "../../node_modules");

const EXAMPLE = resolve(import.meta.dirname, "../../examples/agent");
const TIMEOUT_MS = 300_000;
const LOG_TIMEOUT_MS = 150_000;

/** The process of `npm start`, which commands find by its state folder. */
const test = base
  .extend("vars", { scope: "file" }, (): Record<string, string> => ({}))
  .extend("platform", { scope: "file" }, async ({ vars }, { onCleanup }) => {
    const platform = await PlatformProcess.start({ vars });
    onCleanup(() => platform.dispose());
    return platform;
  });

/** A graph that says what it was given, and logs it. */
const GREETER = `
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
const greet = () => {
  console.log("greeting with", process.env.GREETING);
  return { messages: [{ role: "ai", content: process.env.GREETING + ", revision 2" }] };
};
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("greet", greet)
  .addEdge("__start__", "greet")
  .compile();
`;

function project(code: string, env: Record<string, string> = {}): string {
  const folder = temporaryProject({
    "langgraph.json": { graphs: { agent: "./agent.js:graph" }, env },
    "agent.js": code,
  });
  symlinkSync(INSTALLED, join(folder, "node_modules"));
  return folder;
}

/** Returns the last message of the agent at a printed URL. */
async function answerOf(url: string, apiKey: string, content: string): Promise<unknown> {
  const client = new Client({ apiUrl: url, apiKey, callerOptions: { maxRetries: 0 } });
  const { thread_id } = await client.threads.create();
  const input = { messages: [{ role: "user", content }] };
  const values = (await client.runs.wait(thread_id, "agent", { input })) as {
    messages: { content: unknown }[];
  };
  return values.messages.at(-1)?.content;
}

test(
  "deploys an example beside npm start, rolls out the next revision, reads its logs, deletes it",
  async ({ platform, expect }) => {
    const { apiKey, stateDir } = platform;
    const run = async (...args: string[]): Promise<CommandResult> => {
      const result = await threadworks([...args, "--state", stateDir]);
      expect(result).toMatchObject({ code: 0 });
      return result;
    };

    const first = await run("deploy", EXAMPLE, "--no-input");
    const url = first.stdout.trim();
    expect(url).toBe(`${platform.url}/deployments/agent`);
    expect(first.stderr).toContain("  | Graph agent is ready\n");
    expect(await answerOf(url, apiKey, "What is 20 + 22?")).toContain("42");

    const second = await run(
      "deploy",
      project(GREETER, { GREETING: "Hello", LANGSMITH_API_KEY: "not sent" }),
      "--no-input",
      "--name",
      "agent",
      "--json",
    );
    const result = JSON.parse(second.stdout) as { deployment_id: string; revision_id: string };
    expect(result).toMatchObject({ status: "succeeded", name: "agent", url });
    expect(await answerOf(url, apiKey, "Hi")).toBe("Hello, revision 2");

    const deployments = JSON.parse((await run("list", "--json")).stdout) as object[];
    expect(deployments).toEqual([
      expect.objectContaining({
        id: result.deployment_id,
        name: "agent",
        active_revision_id: result.revision_id,
        secrets: [expect.objectContaining({ name: "GREETING" })],
      }),
    ]);
    const revisions = (await run("revisions", "list", "agent")).stdout.trim().split("\n");
    expect(revisions.map((row) => row.split(/ {2,}/)[1])).toEqual([
      "STATUS",
      "DEPLOYED",
      "REPLACED",
    ]);
    expect(revisions[1]).toContain(result.revision_id);

    const { stdout: builds } = await run("logs", "agent", "--type", "build");
    expect(builds).toContain("[INFO] Built ");
    const follower = startThreadworks(
      ["logs", "agent", "--type", "server", "--follow", "--query", "Greeting", "--state", stateDir],
      {},
    );
    onTestFinished(() => void follower.child.kill("SIGKILL"));
    const lines = (): string[] => follower.output.stdout.trim().split("\n");
    await vi.waitFor(() => expect(lines()).toEqual([expect.stringContaining("greeting with")]), {
      timeout: LOG_TIMEOUT_MS,
    });
    expect(lines()[0]).toMatch(/^\[\S+Z\] \[INFO\] greeting with Hello$/);
    await answerOf(url, apiKey, "Hi again");
    await vi.waitFor(() => expect(lines()).toHaveLength(2), { timeout: LOG_TIMEOUT_MS });

    const deleted = await run("delete", "agent", "--force", "--json");
    expect(JSON.parse(deleted.stdout)).toMatchObject({ status: "deleted", name: "agent" });
    expect((await run("list", "--json")).stdout).toBe("[]\n");
    const gone = await fetch(`${url}/threads`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: "{}",
    });
    expect(gone.status).toBe(404);
  },
  TIMEOUT_MS,
);

test(
  "a revision that does not start ends the command with its reason, and the previous one keeps serving",
  async ({ platform, expect }) => {
    const { apiKey, stateDir } = platform;
    const deploy = (folder: string): Promise<CommandResult> =>
      threadworks(["deploy", folder, "--state", stateDir, "--no-input", "--name", "Fragile"]);

    const { stdout } = await deploy(project(GREETER, { GREETING: "Hello" }));
    const url = stdout.trim();
    expect(url).toBe(`${platform.url}/deployments/fragile`);

    const broken = await deploy(project('throw new Error("no model is configured");'));
    expect(broken).toMatchObject({ code: 1, stdout: "" });
    expect(broken.stderr).toMatch(
      /error: revision [0-9a-f-]{36} of Fragile is DEPLOY_FAILED: [^]*no model is configured/,
    );
    expect(await answerOf(url, apiKey, "Hi")).toBe("Hello, revision 2");
  },
  TIMEOUT_MS,
);

test(
  "a key of another workspace sees nothing, and an unknown key is refused with a message",
  async ({ platform, expect }) => {
    const unknown = await threadworks(["list", "--host-url", platform.url], {
      env: { LANGSMITH_API_KEY: "tw_unknown", THREADWORKS_API_KEY: "tw_unknown" },
    });
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toMatch(
      /^error: GET \/v2\/deployments was answered 40[13] .* \(the key is that of THREADWORKS_API_KEY\)\n$/,
    );

    const state = ["--state", platform.stateDir, "--json"];
    const other = await threadworks(["workspace", "create", "other", "--plan", "plus", ...state]);
    const { id } = JSON.parse(other.stdout) as { id: string };
    const made = await threadworks(["key", "create", "--workspace", id, ...state]);
    const { key } = JSON.parse(made.stdout) as { key: string };
    const listed = await threadworks(["list", ...state, "--api-key", key]);
    expect(listed).toMatchObject({ code: 0, stdout: "[]\n" });
  },
  TIMEOUT_MS,
);
