import { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { newDeployer } from "../support/deployments.ts";
import { SDKS } from "../support/javascript-clients.ts";
import { deployed, fixtureTarball } from "../support/rollouts.ts";
import { CASES } from "../support/sdk-walk/cases.ts";
import { sdkMethods } from "../support/sdk-walk/sdk-methods.ts";
import { testWithServer } from "../support/server.ts";

const test = testWithServer({ AGENT_AUTH: "api-key" }, "walk")
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server))
  .extend("clients", { scope: "file" }, async ({ server, deployer }) => {
    const tarball = await fixtureTarball("walk");
    const { deployment, revision } = await deployed(deployer, "walked", tarball);
    if (revision.status !== "DEPLOYED") throw new Error(revision.status_message ?? "");
    const { apiKey } = deployer;
    return {
      "the built-in project": clientAt(server.url, apiKey),
      "a deployment": clientAt(String(deployment.source_config["custom_url"]), apiKey),
    };
  });

type NewClient = (ignored: Set<string>) => Client;

/** Creates clients that record which fields of their requests the server ignores. */
function clientAt(apiUrl: string, apiKey: string): NewClient {
  return (ignored) => {
    const noting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const names = response.headers.get("x-ignored-fields");
      for (const name of names?.split(", ") ?? []) ignored.add(name);
      return response;
    };
    return new Client({ apiUrl, apiKey, callerOptions: { maxRetries: 0, fetch: noting } });
  };
}

const BASE_METHODS = ["fetch", "prepareFetchOptions", "streamWithRetry"];

describe("the test cases", () => {
  test("cover every method of the SDK", ({ expect }) => {
    const { own, inherited } = sdkMethods(new Client({ apiKey: null }));
    expect(own).toEqual([...CASES.keys()].toSorted());
    expect(inherited).toEqual(BASE_METHODS);
  });

  test.for(SDKS)("cover every method of $name", (sdk, { expect }) => {
    const { own } = sdkMethods(new sdk.Client({ apiKey: null }));
    expect([...CASES.keys()]).toEqual(expect.arrayContaining(own));
  });
});

describe.for(["the built-in project", "a deployment"] as const)("%s", (place) => {
  test.for([...CASES])("serves %s", async ([, { check, ignored = [] }], { clients, expect }) => {
    const told = new Set<string>();
    await check({ client: clients[place](told), user: null, expect });
    expect([...told]).toEqual(ignored);
  });
});
