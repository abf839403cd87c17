import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, inject, test } from "vitest";
import type { Principal } from "../../src/lib/principal.ts";
import { migrateIndex, newThread, textOf, type TestThread } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const principal: Principal = {
  user: {
    identity: "alice",
    display_name: "Alice",
    is_authenticated: true,
    permissions: ["read"],
    org: { id: 7 },
  },
  permissions: ["read"],
};

type Values = { seen: { configurable: Record<string, unknown> } };

async function storedPrincipals(thread: TestThread): Promise<(string | null)[]> {
  return runInDurableObject(thread.object, (_, { storage }) =>
    storage.sql
      .exec<{ principal: string | null }>("SELECT principal FROM runs ORDER BY seq")
      .toArray()
      .map((row) => row.principal),
  );
}

async function resultOf(thread: TestThread, runId: string): Promise<Values> {
  const joined = await thread.api.joinRun(runId, { cancel_on_disconnect: false });
  assert(joined.ok);
  return JSON.parse(await textOf(joined.value));
}

/** Creates a run that waits for its time. */
async function waitingRun(thread: TestThread): Promise<string> {
  const body = { input: {}, after_seconds: 3600 };
  const created = await thread.run("configurable", body, { principal });
  assert(created.ok);
  return created.value.run.run_id;
}

const nodesSee = {
  agent_auth_user: principal.user,
  langgraph_auth_user: principal.user,
  langgraph_auth_user_id: "alice",
  langgraph_auth_permissions: ["read"],
};

describe("the user of a run", () => {
  test("is still known when the run starts after its object was evicted", async ({ expect }) => {
    const thread = newThread();
    const runId = await waitingRun(thread);
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec("UPDATE runs SET created_at = 1");
    });
    await evictDurableObject(thread.object);
    expect((await resultOf(thread, runId)).seen.configurable).toMatchObject(nodesSee);
  });

  test("is still known when a run continues after its process died", async ({ expect }) => {
    const thread = newThread();
    const runId = await waitingRun(thread);
    // A crash in its first attempt leaves this state.
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec("UPDATE runs SET status = 'running', attempt = 1, started_at = 1");
    });
    await evictDurableObject(thread.object);
    const { seen } = await resultOf(thread, runId);
    expect(seen.configurable).toMatchObject(nodesSee);
    expect(seen).toMatchObject({ metadata: { run_attempt: 2 } });
  });

  test("is stored until the run has ended, and only with it", async ({ expect }) => {
    const thread = newThread();
    const runId = await waitingRun(thread);
    expect(await storedPrincipals(thread)).toEqual([JSON.stringify(principal)]);
    const texts = await runInDurableObject(thread.object, (_, { storage }) =>
      storage.sql.exec<{ data: string }>("SELECT data FROM texts").toArray(),
    );
    expect(JSON.stringify([texts, await thread.api.get()])).not.toContain("alice");
    await thread.api.cancelRun(runId, { action: "interrupt", wait: true });
    expect(await storedPrincipals(thread)).toEqual([null]);
  });

  test("is deleted with a run that ends by itself, and is in no checkpoint", async ({ expect }) => {
    const thread = newThread();
    const body = { input: { messages: [{ role: "user", content: "hello" }] } };
    const created = await thread.run("appender", body, { principal, follow: "result" });
    assert(created.ok);
    await textOf(created.value.stream);
    expect(await storedPrincipals(thread)).toEqual([null]);
    const stored = await runInDurableObject(thread.object, (_, { storage }) =>
      ["checkpoints", "writes"].flatMap((table) =>
        storage.sql.exec(`SELECT * FROM ${table}`).toArray(),
      ),
    );
    const text = stored
      .flatMap((row) => Object.values(row))
      .map((value) => (value instanceof ArrayBuffer ? new TextDecoder().decode(value) : value))
      .join("\n");
    expect(text).toContain("hello");
    expect(text.toLowerCase()).not.toContain("alice");
  });
});
