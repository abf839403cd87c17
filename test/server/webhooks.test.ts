import type { Client } from "@langchain/langgraph-sdk";
import { Webhook } from "standardwebhooks";
import { assert, describe, vi } from "vitest";
import { ensureLocalWorkspace } from "../../cli/database/identity.ts";
import { bearer } from "../support/bearer.ts";
import { type Deployer, newDeployer } from "../support/deployments.ts";
import { answerOf, send } from "../support/http.ts";
import { deployed, fixtureTarball } from "../support/rollouts.ts";
import { requestsTo, testWithServer, type TestServer } from "../support/server.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { ISO_TIME, MISSING_ID } from "../support/uuid.ts";

const WORKSPACE = "0d2f62d3-9a4e-4b3c-8a53-7c9f1c1f8a55";
const KEY = "tw_a-key-of-the-workspace-of-the-built-in-project";
const YEARLY = "0 0 1 1 *";
const POLL = { timeout: 150_000, interval: 50 };

/** The user whose token the project sends with its webhooks. */
const HOOKS = { identity: "hooks", permissions: [] };

const PLACES = ["the built-in project", "a deployment"] as const;

type Place = {
  /** The agent server of this place. */
  agent: TestServer;
  alice: Client;
  /** The key that signs its webhooks. */
  key: string;
};

type Message = Record<string, unknown> & {
  run_id: string;
  thread_id: string;
  status: string;
  values: Record<string, unknown>;
};

const LG_WEBHOOK_USER = JSON.stringify(HOOKS);

const test = testWithServer(
  {
    AGENT_AUTH: "api-key",
    AGENT_WORKSPACE_ID: WORKSPACE,
    PROJECT_ENV: JSON.stringify({ LG_WEBHOOK_USER }),
  },
  "webhooks",
)
  .extend("receiver", { scope: "file" }, async ({ server }, { onCleanup }) => {
    void server;
    const receiver = await startUpstream((_request, response) => void response.end("thanks"));
    onCleanup(() => receiver.close());
    return receiver;
  })
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server, "plus"))
  .extend("places", { scope: "file" }, async ({ server, deployer }) => {
    await ensureLocalWorkspace(server.database, { workspaceId: WORKSPACE, apiKey: KEY });
    const own = { "x-api-key": KEY };
    const { body } = await send(server, "GET", keyPath("default"), undefined, own);
    return {
      "the built-in project": placeOf(server, body),
      "a deployment": await deploy(server, deployer),
    } satisfies Record<(typeof PLACES)[number], Place>;
  });

async function deploy(server: TestServer, deployer: Deployer): Promise<Place> {
  const secrets = [{ name: "LG_WEBHOOK_USER", value: LG_WEBHOOK_USER }];
  const tarball = await fixtureTarball("custom-auth/webhooks.langgraph.json");
  const { deployment, revision } = await deployed(deployer, "hooked", tarball, { secrets });
  assert(revision.status === "DEPLOYED", revision.status_message ?? "");
  const { body } = await deployer.call("GET", `/deployments/${deployment.id}/webhook-key`);
  const below = `/deployments/${deployment.id}`;
  const { client } = requestsTo(`${server.url}${below}`);
  const fetch: TestServer["fetch"] = (path, init) => server.fetch(below + path, init);
  return placeOf({ ...server, client, fetch }, body);
}

function placeOf(agent: TestServer, key: unknown): Place {
  const alice = agent.client({ headers: bearer("alice") });
  return { agent, alice, key: (key as { key: string }).key };
}

function keyPath(deploymentId: string): string {
  return `/v2/deployments/${deploymentId}/webhook-key`;
}

/** Creates a new webhook, and returns its messages. */
function newHook(receiver: Upstream) {
  const path = `/${crypto.randomUUID()}`;
  return {
    webhook: receiver.url + path,
    seen: () => receiver.seen.filter(({ url }) => url === path),
    /** Waits for `count` messages, and verifies each as its receiver would. */
    messages: async (key: string, count = 1): Promise<Message[]> => {
      const seen = await vi.waitUntil(() => {
        const all = receiver.seen.filter(({ url }) => url === path);
        return all.length === count && all;
      }, POLL);
      return seen.map(({ headers, body }) => {
        const text = Buffer.from(body, "latin1").toString();
        return new Webhook(key).verify(text, headers as Record<string, string>) as Message;
      });
    },
  };
}

describe.for(PLACES)("on %s, a webhook", (name) => {
  test("has the run, its times and its values for a run that is waited for", async ({
    places,
    receiver,
    expect,
  }) => {
    const { alice, key } = places[name];
    const hook = newHook(receiver);
    const { thread_id } = await alice.threads.create();
    const values = await alice.runs.wait(thread_id, "branching", {
      input: { trail: ["grüße 🌍"] },
      metadata: { purpose: "hooked" },
      webhook: hook.webhook,
    });
    const [message] = await hook.messages(key);
    const [listed] = (await alice.runs.list(thread_id)) as unknown as Record<string, unknown>[];
    const { webhook_delivery, ...run } = listed ?? {};
    expect(message).toEqual({
      ...run,
      run_started_at: expect.stringMatching(ISO_TIME),
      run_ended_at: expect.stringMatching(ISO_TIME),
      webhook_sent_at: expect.stringMatching(ISO_TIME),
      values,
    });
    expect(run).toMatchObject({
      status: "success",
      metadata: { purpose: "hooked", owner: "alice" },
      kwargs: { webhook: hook.webhook },
    });
    const [request] = hook.seen();
    expect(request).toMatchObject({
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": run["run_id"],
        "x-from": "a project",
        ...bearer(HOOKS),
      },
    });
    expect(webhook_delivery).toMatchObject({ attempts: 1 });
  });

  test("has messages in the API's form for a streamed run", async ({
    places,
    receiver,
    expect,
  }) => {
    const { alice, key } = places[name];
    const hook = newHook(receiver);
    const { thread_id } = await alice.threads.create();
    const input = { messages: [{ role: "user", content: "hello" }] };
    const stream = alice.runs.stream(thread_id, "weather", { input, webhook: hook.webhook });
    for await (const _event of stream);
    const [message] = await hook.messages(key);
    const { values } = await alice.threads.getState(thread_id);
    expect(message?.values).toEqual(values);
    expect(message?.values["messages"]).toEqual([
      expect.objectContaining({ type: "human", content: "hello" }),
      expect.objectContaining({ type: "ai" }),
    ]);
  });

  test("has its delivery recorded in a background run", async ({ places, receiver, expect }) => {
    const { alice, key } = places[name];
    const hook = newHook(receiver);
    const { thread_id } = await alice.threads.create();
    const { webhook } = hook;
    const made = await alice.runs.create(thread_id, "branching", { input: {}, webhook });
    expect(made).toMatchObject({ webhook_delivery: { status: "waiting", attempts: 0 } });
    expect((await hook.messages(key))[0]).toMatchObject({ run_id: made.run_id });
    const delivered = { status: "delivered", attempts: 1, error: null };
    await vi.waitFor(async () => {
      const run: object = await alice.runs.get(thread_id, made.run_id);
      expect(run).toMatchObject({ webhook_delivery: delivered });
    }, POLL);
  });

  test("is delivered before the threads of stateless runs are deleted", async ({
    places,
    receiver,
    expect,
  }) => {
    const { alice, key } = places[name];
    const hook = newHook(receiver);
    const payload = { assistantId: "branching", webhook: hook.webhook };
    const batch = await alice.runs.createBatch([
      { ...payload, input: { trail: ["one"] } },
      { ...payload, input: { trail: ["two"] } },
    ]);
    await alice.runs.wait(null, "branching", {
      input: { trail: ["three"] },
      webhook: hook.webhook,
    });
    const messages = await hook.messages(key, 3);
    const trails = messages.map(({ values }) => (values["trail"] as string[])[0]);
    expect(trails.toSorted()).toEqual(["one", "three", "two"]);
    const ids = messages.map(({ run_id }) => run_id);
    expect(ids).toEqual(expect.arrayContaining(batch.map(({ run_id }) => run_id)));
    await vi.waitFor(async () => {
      for (const id of ids) await expect(alice.threads.get(id)).rejects.toThrow(/404/);
    }, POLL);
  });

  test("is delivered for a cron's run", async ({ places, receiver, expect }) => {
    const { alice, key, agent } = places[name];
    const hook = newHook(receiver);
    const { thread_id } = await alice.threads.create();
    const made = { schedule: YEARLY, input: { trail: ["ticked"] }, webhook: hook.webhook };
    const cron: object = await alice.crons.createForThread(thread_id, "branching", made);
    assert("cron_id" in cron);
    await agent.database.run(
      `UPDATE crons SET next_run_at = 60000, due_at = 60000 WHERE cron_id = '${cron.cron_id}'`,
    );
    await agent.sweep();
    const [message] = await hook.messages(key);
    expect(message).toMatchObject({
      thread_id,
      status: "success",
      metadata: { cron_id: cron.cron_id },
      values: { trail: ["ticked", "first", "second", "third"] },
    });
  });

  test("is delivered for a run that stops at a breakpoint", async ({
    places,
    receiver,
    expect,
  }) => {
    const { alice, key } = places[name];
    const hook = newHook(receiver);
    const { thread_id } = await alice.threads.create();
    await alice.runs.wait(thread_id, "branching", {
      input: {},
      interruptBefore: ["second"],
      webhook: hook.webhook,
    });
    const [message] = await hook.messages(key);
    const [run] = await alice.runs.list(thread_id);
    expect(message).toMatchObject({ status: run?.status, values: { trail: ["first"] } });
  });

  test("has the error of a failed run", async ({ places, receiver, expect }) => {
    const { alice, key } = places[name];
    const hook = newHook(receiver);
    const { thread_id } = await alice.threads.create();
    const input = { message: "broken", kind: "error" };
    await alice.runs.create(thread_id, "throws", { input, webhook: hook.webhook });
    const [message] = await hook.messages(key);
    expect(message).toMatchObject({
      status: "error",
      error: { error: "FixtureError", message: "broken" },
      values: { before: "kept" },
    });
  });

  test("is delivered for a cancelled run, whether or not it had begun", async ({
    places,
    receiver,
    expect,
  }) => {
    const { alice, key } = places[name];
    for (const [graph, afterSeconds] of [
      ["forever", 0],
      ["branching", 3600],
    ] as const) {
      const hook = newHook(receiver);
      const { thread_id } = await alice.threads.create();
      const payload = { input: {}, webhook: hook.webhook, afterSeconds };
      const { run_id } = await alice.runs.create(thread_id, graph, payload);
      await alice.runs.cancel(thread_id, run_id, true);
      const [message] = await hook.messages(key);
      expect(message).toMatchObject({ run_id, status: "interrupted" });
    }
  });

  test("can be a path, which is requested with the project's headers", async ({
    places,
    expect,
  }) => {
    const { alice, agent } = places[name];
    const hooks = agent.client({ headers: bearer(HOOKS) });
    const { thread_id: theirs } = await hooks.threads.create();
    const { thread_id: own } = await alice.threads.create();
    for (const thread of [theirs, own]) {
      await alice.runs.create(own, "branching", { input: {}, webhook: `/threads/${thread}/runs` });
    }
    await vi.waitFor(async () => {
      expect(await hooks.runs.list(theirs)).toHaveLength(1);
      const deliveries = await alice.runs.list(own);
      expect(deliveries).toEqual([
        expect.objectContaining({
          webhook_delivery: expect.objectContaining({ error: "The receiver answered 404" }),
        }),
        expect.objectContaining({
          webhook_delivery: expect.objectContaining({ status: "delivered" }),
        }),
      ]);
    }, POLL);
  });

  test.for([
    ["too long", `https://a.example/${"x".repeat(100)}`, /at most 100 characters/],
    ["not a URL", "a.example", /should be a URL/],
    ["with credentials", "https://a:b@c.example", /credentials/],
    ["elsewhere in disguise", "//a.example/b", /begins with a single/],
  ] as const)(
    "is refused for any run if it is %s",
    async ([, webhook, msg], { places, expect }) => {
      const { agent, alice } = places[name];
      const { thread_id } = await alice.threads.create();
      const headers = bearer("alice");
      const body = { assistant_id: "branching", input: {}, webhook };
      const cron = { ...body, schedule: YEARLY };
      const on = `/threads/${thread_id}/runs`;
      for (const [path, given] of [
        ["/runs", body],
        ["/runs/batch", [{ ...body, webhook: null }, body]],
        [`${on}/wait`, body],
        [`${on}/stream`, body],
        ["/runs/crons", cron],
        [`${on}/crons`, cron],
      ] as const) {
        const answer = await send(agent, "POST", path, given, headers);
        expect([answer.status, answer.body]).toEqual([
          422,
          {
            detail: [
              { loc: ["body", "webhook"], msg: expect.stringMatching(msg), type: "value_error" },
            ],
          },
        ]);
      }
      expect(await alice.runs.list(thread_id)).toEqual([]);
      const { cron_id } = (await alice.crons.create("branching", {
        schedule: YEARLY,
      })) as unknown as { cron_id: string };
      await expect(alice.crons.update(cron_id, { webhook })).rejects.toThrow(/422/);
    },
  );
});

describe("the key of a deployment", () => {
  test("is rotated, and shown to its workspace only", async ({ server, deployer, expect }) => {
    const own = { "x-api-key": KEY };
    const path = keyPath("default");
    const theirs = await deployer.call("GET", "/deployments/default/webhook-key");
    const before = await send(server, "GET", path, undefined, own);
    const { key } = before.body as { key: string };
    expect(before.headers.get("cache-control")).toBe("no-store");
    expect((theirs.body as { key: string }).key).not.toBe(key);
    const rotated = await answerOf(send(server, "POST", `${path}/rotate`, undefined, own));
    expect(rotated).toEqual({
      status: 200,
      body: {
        key: expect.stringMatching(/^whsec_/),
        created_at: expect.stringMatching(ISO_TIME),
        previous_key: key,
        previous_expires_at: expect.stringMatching(ISO_TIME),
      },
    });
    expect(await answerOf(send(server, "GET", path, undefined, own))).toEqual(rotated);
    expect(await answerOf(send(server, "GET", path, undefined, bearer("alice")))).toMatchObject({
      status: 401,
    });
    expect(await answerOf(deployer.call("GET", `/deployments/${MISSING_ID}/webhook-key`))).toEqual({
      status: 404,
      body: { detail: "Deployment not found" },
    });
  });
});
