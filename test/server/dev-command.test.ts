import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { onTestFinished, test, vi } from "vitest";
import { startThreadworks, threadworks } from "../support/threadworks-command.ts";
import { temporaryProject } from "../unit/cli/support/temporary-project.ts";

const TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 120_000;

function agent(word: string): string {
  return `
import { Annotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ said: Annotation }))
  .addNode("say", () => ({ said: "${word} " + process.env.WHO }))
  .addEdge("__start__", "say")
  .compile();
`;
}

test(
  "dev serves the project of a folder, reloads it, and ends with its signal",
  async ({ expect }) => {
    const folder = temporaryProject({
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

    writeFileSync(join(folder, "agent.js"), agent("goodbye"));
    await printed(/^reloaded: (agent)$/m);
    expect(await client.runs.wait(null, "agent", { input: {} })).toEqual({ said: "goodbye you" });

    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
  },
  TIMEOUT_MS,
);

test("dev says what is wrong with its options", async ({ expect }) => {
  const folder = temporaryProject({});
  expect(await threadworks(["dev", folder, "--state", folder])).toEqual({
    code: 1,
    stdout: "",
    stderr: `error: no project here: ${folder}/langgraph.json does not exist\n`,
  });
  const both = await threadworks(["dev", folder, "--config", folder]);
  expect(both.stderr).toBe("error: name the project by its folder or by --config, not by both\n");
});
