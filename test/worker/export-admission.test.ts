import { env } from "cloudflare:workers";
import { assert, beforeAll, inject, test } from "vitest";
import {
  countUnfinishedSpawned,
  endExport,
  insertBulkExport,
  insertSpawnedExport,
  listBulkExports,
  listExportingWorkspaces,
  selectBulkExport,
  startExports,
} from "../../src/db/bulk-exports-repo.ts";
import { startRuns } from "../../src/db/export-runs-repo.ts";
import { newPartitions } from "../../src/bulk-export/execution/partitions.ts";
import { DAY, TestExports } from "./export-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

test("a new export has a run for each day, none of which has begun", async () => {
  const tests = await new TestExports().open();
  const id = await tests.add({ start_time: DAY / 2, end_time: 2 * DAY + 1 });
  const runs = await tests.runs(id);
  assert.deepEqual(
    runs.map(({ start_time, end_time, status }) => [start_time, end_time, status]),
    [
      [DAY / 2, DAY, "CREATED"],
      [DAY, 2 * DAY, "CREATED"],
      [2 * DAY, 2 * DAY + 1, "CREATED"],
    ],
  );
});

test("an export is not stored once its destination is deleted", async () => {
  const tests = await new TestExports().open();
  const row = tests.row();
  await env.DB.prepare("UPDATE export_destinations SET deleted_at = 1 WHERE id = ?")
    .bind(tests.destinationId)
    .run();
  assert.isFalse(await insertBulkExport(env.DB, row, newPartitions({ start: 0, end: DAY })));
  assert.deepEqual(await tests.runs(row.id), []);
});

test("the oldest exports begin first, up to the limit, and others when they end", async () => {
  const tests = await new TestExports().open();
  const ids = [await tests.add(), await tests.add(), await tests.add()];
  const { workspaceId } = tests;
  await startExports(env.DB, workspaceId, { limit: 2, now: 5 });
  assert.deepEqual(await tests.running(), ids.slice(0, 2));
  await startExports(env.DB, workspaceId, { limit: 2, now: 6 });
  assert.deepEqual(await tests.running(), ids.slice(0, 2));
  assert.isTrue(
    await endExport(env.DB, workspaceId, ids[0] ?? "", { status: "CANCELLED", now: 7 }),
  );
  await startExports(env.DB, workspaceId, { limit: 2, now: 8 });
  assert.deepEqual(await tests.running(), ids.slice(1));
  const second = await selectBulkExport(env.DB, workspaceId, ids[1] ?? "");
  assert.equal(second?.started_at, 5);
});

test("another workspace's exports do not count", async () => {
  const [one, other] = [await new TestExports().open(), await new TestExports().open()];
  const [id, otherId] = [await one.add(), await other.add()];
  await startExports(env.DB, one.workspaceId, { limit: 1, now: 5 });
  assert.deepEqual(await one.running(), [id]);
  await startExports(env.DB, other.workspaceId, { limit: 1, now: 5 });
  assert.deepEqual(await other.running(), [otherId]);
});

test("a schedule never begins itself", async () => {
  const tests = await new TestExports().open();
  await tests.add({ end_time: null, interval_hours: 1, next_start: 0, next_due_at: 1 });
  await startExports(env.DB, tests.workspaceId, { limit: 5, now: 5 });
  assert.deepEqual(await tests.running(), []);
});

test("the runs of an export begin by day, up to the limit", async () => {
  const tests = await new TestExports().open();
  const id = await tests.add({ end_time: 5 * DAY });
  const { workspaceId } = tests;
  assert.deepEqual(await startRuns(env.DB, workspaceId, { exportId: id, limit: 2, now: 1 }), []);
  await startExports(env.DB, workspaceId, { limit: 1, now: 1 });
  const runs = await tests.runs(id);
  const started = await startRuns(env.DB, workspaceId, { exportId: id, limit: 2, now: 1 });
  assert.sameMembers(
    started.map(({ runId }) => runId),
    runs.slice(0, 2).map((run) => run.id),
  );
  assert.deepEqual(await startRuns(env.DB, workspaceId, { exportId: id, limit: 2, now: 1 }), []);
  assert.deepEqual(await tests.statuses(id), [
    "RUNNING",
    "RUNNING",
    "CREATED",
    "CREATED",
    "CREATED",
  ]);
});

test("ending an export ends its unfinished runs, once", async () => {
  const tests = await new TestExports().open();
  const id = await tests.add();
  const { workspaceId } = tests;
  await startExports(env.DB, workspaceId, { limit: 1, now: 1 });
  await startRuns(env.DB, workspaceId, { exportId: id, limit: 2, now: 1 });
  assert.isTrue(await endExport(env.DB, workspaceId, id, { status: "TIMEDOUT", now: 9 }));
  assert.deepEqual(await tests.statuses(id), ["TIMEDOUT", "TIMEDOUT", "TIMEDOUT"]);
  assert.isFalse(await endExport(env.DB, workspaceId, id, { status: "CANCELLED", now: 10 }));
  const row = await selectBulkExport(env.DB, workspaceId, id);
  assert.deepEqual([row?.status, row?.finished_at], ["TIMEDOUT", 9]);
});

test("a range of a schedule is spawned once, and the next one begins after it", async () => {
  const tests = await new TestExports().open();
  const source = await tests.add({
    end_time: null,
    interval_hours: 24,
    next_start: 0,
    next_due_at: 1,
  });
  const spawn = (start: number) =>
    insertSpawnedExport(
      env.DB,
      { ...tests.row({ start_time: start, end_time: start + DAY }), source_id: source },
      newPartitions({ start, end: start + DAY }),
      { start: start + DAY, dueAt: 2 },
    );
  assert.deepEqual(await Promise.all([spawn(0), spawn(0)]), [true, false]);
  assert.isFalse(await spawn(0));
  assert.equal((await selectBulkExport(env.DB, tests.workspaceId, source))?.next_start, DAY);
  assert.isTrue(await spawn(DAY));
  const rows = await listBulkExports(env.DB, tests.workspaceId, { offset: 0 });
  const spawned = rows.filter(({ source_id }) => source_id === source);
  assert.sameMembers(
    spawned.map(({ start_time }) => start_time),
    [0, DAY],
  );
  for (const { id } of spawned) assert.lengthOf(await tests.runs(id), 1);
});

test("a cancelled schedule spawns no more exports, and leaves earlier ones alone", async () => {
  const tests = await new TestExports().open();
  const { workspaceId } = tests;
  const source = await tests.add({
    end_time: null,
    interval_hours: 24,
    next_start: 0,
    next_due_at: 1,
  });
  const child = { ...tests.row({ end_time: DAY }), source_id: source };
  await insertSpawnedExport(env.DB, child, newPartitions({ start: 0, end: DAY }), {
    start: DAY,
    dueAt: 2,
  });
  assert.isTrue(await endExport(env.DB, workspaceId, source, { status: "CANCELLED", now: 3 }));
  const next = { ...tests.row({ start_time: DAY, end_time: 2 * DAY }), source_id: source };
  assert.isFalse(await insertSpawnedExport(env.DB, next, [], { start: 2 * DAY, dueAt: 3 }));
  assert.equal((await selectBulkExport(env.DB, workspaceId, child.id))?.status, "CREATED");
});

test("the runs of all exports of a workspace begin in one statement, each export by its own limit", async () => {
  const tests = await new TestExports().open();
  const ids = [await tests.add(), await tests.add(), await tests.add()];
  const { workspaceId } = tests;
  await startExports(env.DB, workspaceId, { limit: 2, now: 1 });
  await startRuns(env.DB, workspaceId, { exportId: ids[0] ?? "", limit: 1, now: 1 });
  assert.lengthOf(await startRuns(env.DB, workspaceId, { limit: 2, now: 1 }), 3);
  const statuses = await Promise.all(ids.map((id) => tests.statuses(id)));
  assert.deepEqual(statuses, [
    ["RUNNING", "RUNNING", "CREATED"],
    ["RUNNING", "RUNNING", "CREATED"],
    ["CREATED", "CREATED", "CREATED"],
  ]);
});

test("only exports that have not ended count for their schedule", async () => {
  const tests = await new TestExports().open();
  const { workspaceId } = tests;
  const [source, other] = [crypto.randomUUID(), crypto.randomUUID()];
  // They are not inserted through a schedule, which the count does not need.
  const ids = [];
  for (const [index, source_id] of [source, source, source, other].entries()) {
    const id = await tests.add({ start_time: index, end_time: index + 1 });
    await env.DB.prepare("UPDATE bulk_exports SET source_id = ? WHERE id = ?")
      .bind(source_id, id)
      .run();
    ids.push(id);
  }
  await startExports(env.DB, workspaceId, { limit: 1, now: 1 });
  await endExport(env.DB, workspaceId, ids[2] ?? "", { status: "CANCELLED", now: 2 });
  assert.equal(await countUnfinishedSpawned(env.DB, workspaceId, source), 2);
  assert.equal(await countUnfinishedSpawned(env.DB, workspaceId, other), 1);
});

test("workspaces with exports to begin or to continue are found", async () => {
  const [waiting, running, ended] = [
    await new TestExports().open(),
    await new TestExports().open(),
    await new TestExports().open(),
  ];
  await waiting.add();
  await running.add();
  await startExports(env.DB, running.workspaceId, { limit: 1, now: 1 });
  const id = await ended.add();
  await endExport(env.DB, ended.workspaceId, id, { status: "CANCELLED", now: 2 });
  const found = await listExportingWorkspaces(env.DB, 1000);
  assert.include(found, waiting.workspaceId);
  assert.include(found, running.workspaceId);
  assert.notInclude(found, ended.workspaceId);
});
