import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { Webhook } from "standardwebhooks";
import { afterEach, assert, beforeAll, describe, inject, test, vi } from "vitest";
import { rotateSigningKey, signingKeys } from "../../src/agent-server/webhooks/signing-keys.ts";
import { migrateIndex, newThread, runsOf, type TestThread, textOf } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const WEBHOOK = "https://hooks.example.com/ended";

const outgoing = vi.spyOn(globalThis, "fetch");

afterEach(() => {
  outgoing.mockReset();
});

type Sent = { webhook: unknown; headers: Headers; body: string };

function sent(): Sent[] {
  return outgoing.mock.calls.map(([webhook, init]) => ({
    webhook,
    headers: new Headers(init?.headers),
    body: typeof init?.body === "string" ? init.body : "",
  }));
}

async function until(look: () => unknown): Promise<void> {
  await vi.waitUntil(async () => (await look()) === true, { timeout: 150_000, interval: 20 });
}

async function delivery(thread: TestThread): Promise<Record<string, unknown> | undefined> {
  const [run] = (await runsOf(thread)) ?? [];
  return run?.webhook_delivery;
}

async function hasStatus(thread: TestThread, status: string): Promise<void> {
  await until(async () => (await delivery(thread))?.["status"] === status);
}

/** Makes the thread's webhooks due, as if their time had come, in an object that has just been started. */
async function dueNow(thread: TestThread): Promise<void> {
  await runInDurableObject(thread.object, (_, { storage }) => {
    storage.sql.exec(
      "UPDATE texts SET data = json_set(data, '$.due_at', 1) WHERE name LIKE 'webhook:%'",
    );
  });
  await evictDurableObject(thread.object);
  await runInDurableObject(thread.object, (_, { storage }) =>
    storage.setAlarm(Date.now() + 60_000),
  );
  await runDurableObjectAlarm(thread.object);
}

async function isGone({ object }: TestThread): Promise<boolean> {
  return runInDurableObject(object, (_, { storage }) => {
    const tables = storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'runs'");
    return tables.toArray().length === 0;
  });
}

describe("the webhook of a run", () => {
  test("reports its end, with a signature that the standard's library verifies", async ({
    expect,
  }) => {
    outgoing.mockImplementation(async () => new Response("thanks"));
    const thread = newThread();
    const body = { input: { trail: ["in"] }, webhook: WEBHOOK };
    const created = await thread.run("branching", body, { follow: "result" });
    assert(created.ok);
    expect(created.value.run.webhook_delivery?.status).toBe("waiting");
    const values = JSON.parse(await textOf(created.value.stream));
    await hasStatus(thread, "delivered");
    const [message, ...more] = sent();
    assert(message !== undefined);
    expect(more).toEqual([]);
    expect(message.webhook).toBe(WEBHOOK);
    expect(outgoing.mock.calls[0]?.[1]).toMatchObject({ method: "POST", redirect: "manual" });
    const { current } = await signingKeys(env, thread.scope);
    const verified = new Webhook(current).verify(
      message.body,
      Object.fromEntries(message.headers),
    ) as Record<string, unknown>;
    const { run } = created.value;
    expect(message.headers.get("webhook-id")).toBe(run.run_id);
    expect(message.headers.get("content-type")).toBe("application/json");
    const { webhook_delivery: _own, ...shown } = run;
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(verified).toEqual({
      ...shown,
      status: "success",
      updated_at: time,
      run_started_at: time,
      run_ended_at: time,
      webhook_sent_at: time,
      values,
    });
    expect(await delivery(thread)).toEqual({
      status: "delivered",
      attempts: 1,
      last_attempt_at: time,
      error: null,
    });
  });

  test("is sent again by an object that finds it due after its process died", async ({
    expect,
  }) => {
    outgoing.mockImplementation(() => new Promise(() => {}));
    const thread = newThread();
    const created = await thread.run("branching", { input: {}, webhook: WEBHOOK });
    assert(created.ok);
    await until(() => sent().length === 1);
    outgoing.mockImplementation(async () => new Response(null, { status: 204 }));
    await dueNow(thread);
    await hasStatus(thread, "delivered");
    const [first, second] = sent().map(({ headers }) => headers.get("webhook-id"));
    expect([first, second]).toEqual([created.value.run.run_id, created.value.run.run_id]);
    expect(await delivery(thread)).toMatchObject({ attempts: 2 });
  });

  test.for([
    ["an error", () => new Response("no", { status: 500 }), "The receiver answered 500"],
    ["a redirect", () => Response.redirect("https://a.example", 307), "The receiver answered 307"],
    [
      "no answer at all",
      () => {
        throw new Error("The connection was lost");
      },
      "The connection was lost",
    ],
  ] as const)("is sent again after %s", async ([, answer, error], { expect }) => {
    outgoing.mockImplementationOnce(async () => answer());
    outgoing.mockImplementation(async () => new Response());
    const thread = newThread();
    await thread.run("branching", { input: {}, webhook: WEBHOOK });
    await until(async () => (await delivery(thread))?.["error"] === error);
    expect(await delivery(thread)).toMatchObject({ status: "pending", attempts: 1 });
    await dueNow(thread);
    await hasStatus(thread, "delivered");
    expect(sent()).toHaveLength(2);
  });

  test("is given up when the receiver answers that it is gone", async ({ expect }) => {
    outgoing.mockImplementation(async () => new Response(null, { status: 410 }));
    const thread = newThread();
    await thread.run("branching", { input: {}, webhook: WEBHOOK });
    await hasStatus(thread, "failed");
    expect([sent().length, (await delivery(thread))?.["error"]]).toEqual([
      1,
      "The receiver answered 410",
    ]);
  });

  test("is given up without an attempt when its address is no longer allowed", async ({
    expect,
  }) => {
    const thread = newThread();
    await thread.run("branching", { input: {}, webhook: "ftp://hooks.example.com" });
    await hasStatus(thread, "failed");
    expect([sent(), (await delivery(thread))?.["error"]]).toEqual([
      [],
      expect.stringMatching(/should be a URL/),
    ]);
  });

  test("keeps a temporary thread until it is delivered", async ({ expect }) => {
    outgoing.mockImplementation(async () => new Response(null, { status: 503 }));
    const thread = newThread();
    const body = { input: { trail: ["in"] }, webhook: WEBHOOK };
    const created = await thread.run("branching", body, { follow: "result", temporary: true });
    assert(created.ok);
    await textOf(created.value.stream);
    await until(async () => (await delivery(thread))?.["error"] === "The receiver answered 503");
    expect(await isGone(thread)).toBe(false);
    outgoing.mockImplementation(async () => new Response());
    await dueNow(thread);
    await until(() => isGone(thread));
    const trails = sent().map(({ body: text }) => JSON.parse(text).values.trail.join());
    expect(trails).toEqual(Array(2).fill("in,first,second,third"));
  });

  test("is deleted with its thread", async ({ expect }) => {
    outgoing.mockImplementation(async () => new Response(null, { status: 503 }));
    const thread = newThread();
    await thread.run("branching", { input: {}, webhook: WEBHOOK });
    await until(async () => (await delivery(thread))?.["attempts"] === 1);
    await thread.api.remove();
    expect(await isGone(thread)).toBe(true);
    expect(await runDurableObjectAlarm(thread.object)).toBe(false);
  });

  test("omits values that are too long, and says so", async ({ expect }) => {
    outgoing.mockImplementation(async () => new Response());
    const thread = newThread();
    const trail = ["x".repeat(5_000_000)];
    await thread.run("branching", { input: { trail }, webhook: WEBHOOK });
    await hasStatus(thread, "delivered");
    const [message] = sent();
    expect(JSON.parse(message?.body ?? "")).toMatchObject({
      status: "success",
      values: null,
      kwargs: {},
      omitted: ["kwargs", "values"],
    });
  });
});

describe("the key of a deployment", () => {
  test("is a single one, also for concurrent first requests", async ({ expect }) => {
    const { scope } = newThread();
    const [one, two] = await Promise.all([signingKeys(env, scope), signingKeys(env, scope)]);
    expect(one).toEqual(two);
    expect(one.current).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  test("signs in addition to the new one for a day after a rotation", async ({ expect }) => {
    outgoing.mockImplementation(async () => new Response());
    const thread = newThread();
    const { current: old } = await signingKeys(env, thread.scope);
    const { current, previous } = await rotateSigningKey(env, thread.scope);
    expect([previous?.key, current === old]).toEqual([old, false]);
    await thread.run("branching", { input: {}, webhook: WEBHOOK });
    await hasStatus(thread, "delivered");
    const [message] = sent();
    assert(message !== undefined);
    const headers = Object.fromEntries(message.headers);
    for (const key of [old, current]) {
      expect(new Webhook(key).verify(message.body, headers)).toMatchObject({ status: "success" });
    }
    await env.DB.prepare("UPDATE webhook_keys SET previous_expires_at = 1").run();
    expect((await signingKeys(env, thread.scope)).previous).toBe(null);
  });
});
