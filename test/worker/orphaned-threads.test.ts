import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { deploymentName } from "../../src/agent-server/deployment-name.ts";
import { deleteDeployment } from "../../src/control-plane/deployments/delete-deployment.ts";
import { forgetDeployment } from "../../src/db/deployments-repo.ts";
import { markDeleted, newDeployment } from "./deployment-support.ts";
import { migrateIndex, newThread, runsOf, type TestThread } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

async function newTemporaryRun(body: { after_seconds?: number }): Promise<TestThread> {
  const thread = newThread(await newDeployment());
  await thread.run("forever", { input: {}, ...body }, { temporary: true });
  return thread;
}

async function tablesOf({ object }: TestThread): Promise<number> {
  return runInDurableObject(object, (_, { storage }) => {
    const sql = "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'";
    return storage.sql.exec(sql).toArray().length;
  });
}

describe("a temporary thread, which is in no index", () => {
  test.for([
    ["with a run in flight", {}],
    ["with a delayed run", { after_seconds: 3600 }],
  ] as const)("is deleted after its deployment: one %s", async ([, body]) => {
    const thread = await newTemporaryRun(body);
    expect(await runDurableObjectAlarm(thread.object)).toBe(true);
    expect(await runsOf(thread)).toHaveLength(1);

    await markDeleted(thread.scope);
    expect(await deleteDeployment(env, thread.scope)).toBe(true);
    expect(await runDurableObjectAlarm(thread.object)).toBe(true);
    expect(await thread.api.get()).toBe(null);
    expect(await tablesOf(thread)).toBe(0);
    expect(await runDurableObjectAlarm(thread.object)).toBe(false);
  });

  test("is deleted even if nothing is known of the deployment any more", async () => {
    const thread = await newTemporaryRun({});
    await markDeleted(thread.scope);
    await deleteDeployment(env, thread.scope);
    await forgetDeployment(env.DB, thread.scope);
    await runDurableObjectAlarm(thread.object);
    expect(await tablesOf(thread)).toBe(0);
  });
});

test("a deployment that is being deleted records no more traces", async () => {
  const of = await newDeployment();
  expect(await deploymentName(env.DB, of)).toBe(`name-${of.deploymentId}`);
  await markDeleted(of);
  expect(await deploymentName(env.DB, of)).toBe(null);
});
