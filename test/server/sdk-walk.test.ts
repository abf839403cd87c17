import { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { newDeployer } from "../support/deployments.ts";
import { SDKS } from "../support/javascript-clients.ts";
import { agentClient, deployed, fixtureTarball } from "../support/rollouts.ts";
import { CASES } from "../support/sdk-walk/cases.ts";
import { sdkMethods } from "../support/sdk-walk/sdk-methods.ts";
import { testWithServer } from "../support/server.ts";

const test = testWithServer({ AGENT_AUTH: "api-key" }, "walk")
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server))
  .extend("clients", { scope: "file" }, async ({ server, deployer }) => {
    const tarball = await fixtureTarball("walk");
    const { deployment, revision } = await deployed(deployer, "walked", tarball);
    if (revision.status !== "DEPLOYED") throw new Error(revision.status_message ?? "");
    return {
      "the built-in project": server.client({ apiKey: deployer.apiKey }),
      "a deployment": agentClient(deployment, deployer.apiKey),
    };
  });

const BASE_METHODS = ["fetch", "prepareFetchOptions", "streamWithRetry"];

describe("the cases", () => {
  test("are of every method of the SDK", ({ expect }) => {
    const { own, inherited } = sdkMethods(new Client({ apiKey: null }));
    expect(own).toEqual([...CASES.keys()].toSorted());
    expect(inherited).toEqual(BASE_METHODS);
  });

  test.for(SDKS)("are of every method of $name", (sdk, { expect }) => {
    const { own } = sdkMethods(new sdk.Client({ apiKey: null }));
    expect([...CASES.keys()]).toEqual(expect.arrayContaining(own));
  });
});

describe.for(["the built-in project", "a deployment"] as const)("%s", (place) => {
  test.for([...CASES])("serves %s", async ([, { check }], { clients, expect }) => {
    await check({ client: clients[place], user: null, expect });
  });
});
