import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeAll, expect, inject, test, vi } from "vitest";
import { insertAssistant } from "../../src/db/assistants-repo.ts";
import { storeOf } from "../../src/agent-server/store/store-object.ts";
import { threadSeenBy } from "../../src/agent-server/threads/thread-stub.ts";
import { ALL_THREADS } from "../../src/agent-server/threads/contract/thread-requests.ts";
import { deleteDeployment } from "../../src/control-plane/deployments/delete-deployment.ts";
import { deploymentSweep } from "../../src/control-plane/deployments/work.ts";
import type { LogLine } from "../../src/deployment-log/log-line.ts";
import { logStub, recordLogs } from "../../src/deployment-log/record.ts";
import { selectDeployment } from "../../src/db/deployments-repo.ts";
import { threadObjectName } from "../../src/lib/object-names.ts";
import { ensureDeploymentProject } from "../../src/tracing/deployment-project.ts";
import { runSweep } from "../../src/work/sweep.ts";
import {
  countRows,
  keysOf,
  markDeleted,
  newDeployment,
  newRevision,
  newTarball,
  type TestDeployment,
} from "./deployment-support.ts";
import { migrateIndex } from "./support.ts";

const HOUR = 3_600_000;

const LINE: LogLine = {
  kind: "server",
  revision_id: null,
  timestamp: Date.now(),
  level: "INFO",
  message: "a line",
};

beforeAll(() => migrateIndex(inject("migrations")));

async function newThreads(scope: TestDeployment, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  for (const id of ids) {
    await threadSeenBy(ALL_THREADS, env, scope, id).create({
      scope,
      thread_id: id,
      metadata: {},
      if_exists: "raise",
    });
  }
  return ids;
}

function put(scope: TestDeployment): Promise<unknown> {
  const value = { text: "note" };
  return storeOf(env, scope).execute([{ op: "put", namespace: ["a"], key: "k", value }]);
}

function read(scope: TestDeployment): Promise<unknown> {
  return storeOf(env, scope).execute([{ op: "get", namespace: ["a"], key: "k" }]);
}

async function newAssistant({ workspaceId, deploymentId }: TestDeployment): Promise<void> {
  const row = {
    workspace_id: workspaceId,
    deployment_id: deploymentId,
    assistant_id: crypto.randomUUID(),
    version: 1,
    graph_id: "agent",
    name: "a",
    description: null,
    config: "{}",
    context: "{}",
    metadata: "{}",
    created_at: 0,
    updated_at: 0,
  };
  await env.DB.batch(insertAssistant(env.DB, row));
}

/** Returns the tables that a Durable Object has stored. */
async function tablesOf(object: DurableObjectStub): Promise<unknown[]> {
  return runInDurableObject(object, (_, { storage }) =>
    storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
      .toArray(),
  );
}

/** Creates a deployment with data of every kind. */
async function filledDeployment(workspaceId: string): Promise<TestDeployment & { path: string }> {
  const path = await newTarball(workspaceId, Date.now());
  const of = await newDeployment({ workspaceId, tarball: path });
  await newRevision(of, { tarball: path });
  await newThreads(of, 2);
  await put(of);
  await newAssistant(of);
  await env.SOURCES.put(`${workspaceId}/built/${of.deploymentId}/code.json`, "{}");
  await recordLogs(env, of, [LINE]);
  return { ...of, path };
}

test("a deletion removes all data of the deployment, and nothing of another one", async () => {
  const workspaceId = crypto.randomUUID();
  const gone = await filledDeployment(workspaceId);
  const kept = await filledDeployment(workspaceId);
  await markDeleted(gone);
  expect((await selectDeployment(env.DB, gone))?.deployment.status).toBe("AWAITING_DELETE");

  expect(await deleteDeployment(env, gone)).toBe(true);

  expect(await selectDeployment(env.DB, gone)).toBeUndefined();
  expect(await tablesOf(storeOf(env, gone))).toEqual([]);
  expect(await tablesOf(logStub(env, gone))).toEqual([]);
  expect(await tablesOf(logStub(env, kept))).not.toEqual([]);
  expect(await read(gone)).toMatchObject({ answers: [null] });
  expect(await read(kept)).toMatchObject({ answers: [{ value: { text: "note" } }] });
  expect(await keysOf(workspaceId)).toEqual(
    [`${workspaceId}/built/${kept.deploymentId}/code.json`, kept.path].toSorted(),
  );
  for (const [table, rows] of [
    ["threads", 2],
    ["assistants", 1],
    ["assistant_versions", 1],
    ["revisions", 2],
    ["source_uploads", 1],
    // One of these rows is that of the deleted deployment, which stays so that late data is found.
    ["deployments", 2],
  ] as const) {
    expect([table, await countRows(table, kept)]).toEqual([table, rows]);
  }
  expect(await deleteDeployment(env, gone)).toBe(true);
});

test("the object of a deleted thread is empty", async () => {
  const of = await newDeployment();
  const [id = ""] = await newThreads(of, 1);
  await markDeleted(of);
  await deleteDeployment(env, of);
  const object = env.THREADS.get(env.THREADS.idFromName(threadObjectName(of, id)));
  expect(await tablesOf(object)).toEqual([]);
});

test("many threads need more than one call", async () => {
  const of = await newDeployment();
  const ids = JSON.stringify(Array.from({ length: 120 }, () => crypto.randomUUID()));
  // These are rows without an object, which are left when an object is lost.
  await env.DB.prepare(
    `INSERT INTO threads (workspace_id, deployment_id, thread_id, status, metadata, config,
       interrupts, omitted, values_chars, json_chars, created_at, updated_at, state_updated_at, version)
     SELECT ?, ?, value, 'idle', '{}', '{}', '{}', 'none', 0, 0, 0, 0, 0, 1 FROM json_each(?)`,
  )
    .bind(of.workspaceId, of.deploymentId, ids)
    .run();
  await markDeleted(of);
  expect(await deleteDeployment(env, of)).toBe(false);
  expect(await countRows("threads", of)).toBe(20);
  expect((await selectDeployment(env.DB, of))?.deployment.status).toBe("AWAITING_DELETE");
  expect(await deleteDeployment(env, of)).toBe(true);
  expect(await countRows("threads", of)).toBe(0);
});

test("a deletion that is interrupted continues, and may be done by two processes", async () => {
  const of = await filledDeployment(crypto.randomUUID());
  await markDeleted(of);
  const failing = Object.assign(Object.create(env.SOURCES) as R2Bucket, {
    list: () => Promise.reject(new Error("no bucket")),
  });
  const broken = { ...env, SOURCES: failing };
  await expect(deleteDeployment(broken, of)).rejects.toThrow("no bucket");
  expect((await selectDeployment(env.DB, of))?.deployment.status).toBe("AWAITING_DELETE");
  expect(await Promise.all([1, 2].map(() => deleteDeployment(env, of)))).toEqual([true, true]);
  expect(await selectDeployment(env.DB, of)).toBeUndefined();
  expect(await keysOf(of.workspaceId)).toEqual([]);
});

test("a deployment in service is not deleted", async () => {
  const of = await filledDeployment(crypto.randomUUID());
  expect(await deleteDeployment(env, of)).toBe(true);
  expect((await selectDeployment(env.DB, of))?.deployment.status).toBe("READY");
  expect(await countRows("threads", of)).toBe(2);
});

test("a tarball is kept for other deployments that use it", async () => {
  const workspaceId = crypto.randomUUID();
  const path = await newTarball(workspaceId, Date.now());
  const gone = await newDeployment({ workspaceId, tarball: path });
  const kept = await newDeployment({ workspaceId, tarball: path });
  await markDeleted(gone);
  await deleteDeployment(env, gone);
  expect(await keysOf(workspaceId)).toEqual([path]);
  await newRevision(kept, { tarball: path });
  await markDeleted(kept);
  await deleteDeployment(env, kept);
  expect(await keysOf(workspaceId)).toEqual([]);
});

test("the tracing project is deleted only if that was requested at any time", async () => {
  const workspaceId = crypto.randomUUID();
  const [kept, gone] = [await newDeployment({ workspaceId }), await newDeployment({ workspaceId })];
  for (const { deploymentId } of [kept, gone]) {
    await ensureDeploymentProject(env, workspaceId, `name-${deploymentId}`);
  }
  await markDeleted(kept);
  await deleteDeployment(env, kept);
  await markDeleted(gone, true);
  await markDeleted(gone, false);
  await deleteDeployment(env, gone);
  const { results } = await env.DB.prepare(
    "SELECT name FROM projects WHERE workspace_id = ? AND deleted_at IS NULL",
  )
    .bind(workspaceId)
    .all();
  expect(results).toEqual([{ name: `name-${kept.deploymentId}` }]);
});

test("the sweep removes late data, and then the deployment's row", async () => {
  const of = await newDeployment();
  await markDeleted(of);
  await deleteDeployment(env, of);
  await newThreads(of, 1);
  await runSweep(env, Date.now() + 9 * 60_000, deploymentSweep);
  expect(await countRows("threads", of)).toBe(1);
  await runSweep(env, Date.now() + 11 * 60_000, deploymentSweep);
  expect(await countRows("threads", of)).toBe(0);
  expect(await countRows("deployments", of)).toBe(0);
});

test("the sweep restarts deletions without a worker", async () => {
  const of = await newDeployment();
  await newDeployment({ workspaceId: of.workspaceId });
  await markDeleted(of);
  const sendBatch = vi.fn<Env["ROLLOUTS"]["sendBatch"]>();
  const counting = { ...env, ROLLOUTS: Object.assign({ ...env.ROLLOUTS }, { sendBatch }) };
  const nudged = () =>
    sendBatch.mock.calls
      .flatMap(([messages]) => [...messages].map(({ body }) => body))
      .filter((message) => JSON.stringify(message).includes(of.workspaceId))
      .filter((message) => JSON.stringify(message).includes('"delete"'));
  await runSweep(counting, Date.now() + 50_000, deploymentSweep);
  expect(nudged()).toEqual([]);
  await runSweep(counting, Date.now() + 70_000, deploymentSweep);
  const { workspaceId, deploymentId } = of;
  const message = { kind: "delete", workspace_id: workspaceId, deployment_id: deploymentId };
  expect(nudged()).toEqual([message]);
});

test("the sweep removes tarballs that were not deployed for a day", async () => {
  const workspaceId = crypto.randomUUID();
  const now = Date.now();
  const old = await newTarball(workspaceId, now - 25 * HOUR);
  const fresh = await newTarball(workspaceId, now - 23 * HOUR);
  const used = await newTarball(workspaceId, now - 25 * HOUR);
  const of = await newDeployment({ workspaceId, tarball: used });
  await runSweep(env, now, deploymentSweep);
  expect(await keysOf(workspaceId)).toEqual([fresh, used].toSorted());
  expect(await countRows("source_uploads", of)).toBe(2);
  await expect(newRevision(of, { tarball: old })).rejects.toThrow("not stored");
  await newRevision(of, { tarball: fresh });
});
