import { describe } from "vitest";
import { newDeployer } from "../support/deployments.ts";
import { testWithPlatform } from "../support/platform-server.ts";
import { agentClient, deployed, fixtureTarball } from "../support/rollouts.ts";
import type { TestServer } from "../support/server.ts";

const test = testWithPlatform({}, "test/worker/counting-worker.ts");

/** Returns the tables that the Worker reads in D1 during `work`, with the tables of one statement joined by commas. */
async function tablesRead(server: TestServer, work: () => Promise<unknown>): Promise<string[]> {
  const reads = async () => (await (await server.fetch("/reads")).json()) as string[];
  const before = (await reads()).length;
  await work();
  return (await reads())
    .slice(before)
    .map((text) =>
      [...text.matchAll(/\b(?:from|join) "?(\w+)/gi)].map(([, name]) => name).join(", "),
    );
}

describe("a run of a deployment", () => {
  test("reads its revision in one statement, with the assistant of the run before", async ({
    server,
    expect,
  }) => {
    const deployer = await newDeployer(server, "plus");
    const tarball = await fixtureTarball("deployed");
    const { deployment } = await deployed(deployer, "reads", tarball);
    const client = agentClient(deployment, deployer.apiKey);
    const { thread_id } = await client.threads.create();
    const run = () => client.runs.wait(thread_id, "teller", { input: {} });
    const other = await client.assistants.create({ graphId: "teller" });
    const runOther = () => client.runs.wait(thread_id, other.assistant_id, { input: {} });

    await run();

    expect(await tablesRead(server, run)).toEqual(["deployments, assistants"]);
    // The other assistant comes from the deployment's object.
    expect(await tablesRead(server, runOther)).toEqual(["deployments, assistants"]);
  });
});
