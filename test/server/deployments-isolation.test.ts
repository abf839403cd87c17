import { readFileSync } from "node:fs";
import { describe } from "vitest";
import { newDeployer } from "../support/deployments.ts";
import { testWithPlatform } from "../support/platform-server.ts";
import { agentClient, deployed, fixtureTarball, moduleTarball } from "../support/rollouts.ts";

const HOSTILE = readFileSync(new URL("../fixtures/hostile-host.js", import.meta.url), "utf8");

type Found = { done?: unknown; failed?: string };

const test = testWithPlatform({ OUTBOUND_PRIVATE_ENDPOINTS: "refuse" })
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server, "plus"))
  .extend("victim", { scope: "file" }, async ({ server }) => {
    const owner = await newDeployer(server, "plus");
    const { deployment } = await deployed(owner, "victim", await fixtureTarball("deployed"), {
      secrets: [{ name: "VARIABLE", value: "the victim's secret" }],
    });
    const client = agentClient(deployment, owner.apiKey);
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "teller", { input: {} });
    const { checkpoint } = await client.threads.getState(thread_id);
    return { owner, client, thread_id, checkpoint_id: checkpoint.checkpoint_id };
  })
  .extend("hostile", { scope: "file" }, async ({ deployer }) => {
    const secrets = [{ name: "OWN_SECRET", value: "its own" }];
    const { deployment } = await deployed(deployer, "hostile", await moduleTarball(HOSTILE), {
      secrets,
    });
    return deployment;
  })
  .extend("attack", ({ deployer, hostile }) => async (name: string, input: object = {}) => {
    const client = agentClient(hostile, deployer.apiKey);
    const found = await client.runs.wait(null, "hostile", { input: { attack: name, ...input } });
    const { done, failed } = found as Found;
    if (failed !== undefined) throw new Error(failed);
    return done as Record<string, Found>;
  });

/** The outcome of a run that does not report the state that it left. */
const silent = {
  status: "success",
  tail: { checkpoints: [], events: [] },
  result: null,
  snapshot: null,
};

describe("hostile code in a deployment", () => {
  test("has its own environment, and only its own agent server of the platform", async ({
    attack,
    expect,
  }) => {
    const own = [
      "OWN_SECRET",
      "LANGSMITH_HOST_PROJECT_ID",
      "LANGSMITH_HOST_PROJECT_NAME",
      "LANGSMITH_HOST_REVISION_ID",
    ];
    const bindings = [...own, "THREADWORKS_AGENT_SERVER"];
    expect(await attack("environment")).toEqual({
      env: bindings,
      moduleEnv: bindings,
      process: own,
      exports: ["GraphHost"],
      ctxExports: ["GraphHost"],
      props: {},
    });
  });

  test("can call only its own deployment by that agent server", async ({
    attack,
    hostile,
    deployer,
    expect,
  }) => {
    const paths = [
      "/assistants/search",
      "/v2/deployments",
      "/api/v1/sessions",
      `/deployments/${hostile.id}/assistants/search`,
      "/../../v2/deployments",
    ];
    const headers = { "x-api-key": deployer.apiKey };
    expect(await attack("agentServer", { paths, headers })).toEqual({
      [paths[0] ?? ""]: 200,
      ...Object.fromEntries(paths.slice(1).map((path) => [path, 404])),
    });
  });

  test("reaches no private address, no socket and no shared cache", async ({
    server,
    attack,
    expect,
  }) => {
    const { host } = new URL(server.url);
    const urls = [
      `${server.url}/ok`,
      `http://localhost:${new URL(server.url).port}/ok`,
      "http://169.254.169.254/latest/meta-data/",
      "http://[::1]/",
      "http://0x7f000001/",
      "http://service.internal/",
    ];
    const { socket, cache, ...asked } = await attack("network", { urls, socket: host });
    expect(Object.keys(asked)).toEqual(urls);
    for (const found of Object.values(asked))
      expect(found).toMatchObject({ done: { status: 403 } });
    expect(socket).toEqual({ done: "" });
    expect(cache?.failed).toContain("No Cache");
  });

  test("gets only what a run needs from the port of its run", async ({
    attack,
    victim,
    expect,
  }) => {
    const tried = await attack("port", { thread_id: victim.thread_id });
    for (const [name, { failed }] of Object.entries(tried)) {
      expect(`${name}: ${failed}`).toMatch(
        /does not implement|not callable|is not a function|no such|cannot be/i,
      );
    }
  });

  test("cannot read checkpoints and stores of other deployments", async ({
    attack,
    victim,
    expect,
  }) => {
    const { thread_id, checkpoint_id } = victim;
    const { all, odd, ...found } = await attack("checkpoints", { thread_id, checkpoint_id });
    for (const each of Object.values(found)) expect(each).toEqual({ done: null });
    expect(all).toEqual({ done: 0 });
    expect(odd?.done ?? 0).toBe(0);
    const store = await attack("store");
    expect(store["items"]).toEqual([{ key: "k", value: { of: "hostile" } }]);
    expect(store["namespaces"]).toEqual([["mine"]]);
  });

  test("cannot make the platform read and hold more than the limits, and its reads are counted", async ({
    attack,
    deployer,
    hostile,
    expect,
  }) => {
    const failed = (text: string) => ({ failed: expect.stringContaining(text) });
    expect(await attack("bounds")).toEqual({
      page: failed('"limit" should be an integer from 1 to 100 checkpoints'),
      search: failed('lower "limit"'),
      searches: failed("ask for less at once"),
      reads: failed("ask for less at once"),
      operations: failed("at most 1000 operations in a call"),
      item: failed('"value" of an item of the store has 3000011 bytes'),
      few: { done: 3 },
    });
    const usage = async () => {
      const { body } = await deployer.call("GET", `/deployments/${hostile.id}/usage`);
      return (body as { resources: Record<string, number>[] }).resources[0] ?? {};
    };
    await expect.poll(async () => (await usage())["storage_bytes"]).toBeGreaterThan(40_000_000);
    const { storage_operations = 0, storage_rows = 0 } = await usage();
    expect(storage_operations).toBeGreaterThan(20);
    expect(storage_rows).toBeGreaterThan(20);
  });

  test("can return a history of any size, and read on while it is sent", async ({
    deployer,
    hostile,
    expect,
  }) => {
    const client = agentClient(hostile, deployer.apiKey);
    const { thread_id } = await client.threads.create({ graphId: "hostile" });
    await client.runs.wait(thread_id, "hostile", { input: { outcome: silent, checkpoint: "{}" } });
    const history: unknown[] = await client.threads.getHistory(thread_id);
    expect(history).toHaveLength(40);
    expect(history.at(-1)).toBe(1);
  });

  test("breaks nothing with invalid arguments", async ({ attack, victim, expect }) => {
    await attack("arguments");
    const values = await victim.client.runs.wait(victim.thread_id, "teller", { input: {} });
    expect(JSON.stringify(values)).toContain("the victim's secret");
  });

  test.for([
    null,
    "text",
    {},
    { status: "success" },
    { status: "success", tail: 5, result: 7 },
    { status: "nonsense", tail: { checkpoints: [], events: [] }, result: null, snapshot: null },
    { status: "success", tail: { checkpoints: [{}], events: [] }, result: null, snapshot: null },
    { status: "success", tail: { checkpoints: [], events: [] }, result: "no JSON", snapshot: null },
    { status: "success", tail: { checkpoints: [], events: [] }, result: "{}", snapshot: "result" },
    { status: "error", tail: { checkpoints: [], events: [] }, result: null, snapshot: null },
  ])(
    "ends only its own run with an invalid outcome: %j",
    async (outcome, { deployer, hostile, expect }) => {
      const client = agentClient(hostile, deployer.apiKey);
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, "hostile", { input: { outcome } });
      const ended = async () => (await client.runs.get(thread_id, run_id)).status;
      await expect.poll(ended).toMatch(/^(success|error|interrupted)$/);
      const next = await client.runs.wait(thread_id, "hostile", {
        input: { attack: "environment" },
      });
      expect((next as Found).done).toMatchObject({ exports: ["GraphHost"] });
    },
  );

  test.for([
    null,
    "text",
    "hangs",
    { ok: true },
    { ok: true, value: 7 },
    { ok: true, value: "no JSON" },
    { ok: true, value: "{}" },
    { ok: true, value: '{"tasks":[],"next":[]}' },
    { ok: true, value: '{"values":{},"tasks":[{}],"next":[5]}' },
    { ok: false },
  ])(
    "does not keep a run from ending by not reporting the state that it left: %j",
    async (state, { deployer, hostile, expect }) => {
      const client = agentClient(hostile, deployer.apiKey);
      const { thread_id } = await client.threads.create();
      const payload = {
        input: { outcome: silent, checkpoint: "{}" },
        config: { configurable: { state } },
      };
      const { run_id } = await client.runs.create(thread_id, "hostile", payload);
      const ended = async () => (await client.runs.get(thread_id, run_id)).status;
      await expect.poll(ended).toMatch(/^(success|error)$/);
      expect((await client.threads.get(thread_id)).status).toBe("idle");
    },
  );

  test("can be rolled back, whatever it has stored before", async ({
    deployer,
    hostile,
    expect,
  }) => {
    const client = agentClient(hostile, deployer.apiKey);
    const { thread_id } = await client.threads.create();
    const input = { outcome: silent, checkpoint: "no JSON" };
    const config = { configurable: { state: "text" } };
    await client.runs.wait(thread_id, "hostile", { input, config });
    const hanging = { input: { ...input, outcome: "hangs" }, config };
    const { run_id } = await client.runs.create(thread_id, "hostile", hanging);
    await client.runs.cancel(thread_id, run_id, true, "rollback");
    await expect(client.runs.get(thread_id, run_id)).rejects.toThrow("HTTP 404");
  });
});
