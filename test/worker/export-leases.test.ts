import { env } from "cloudflare:workers";
import { assert, beforeAll, inject, test } from "vitest";
import { endExport, selectBulkExport, startExports } from "../../src/db/bulk-exports-repo.ts";
import {
  completeRun,
  EXPORT_RUN_WORK,
  failRun,
  recordFile,
  retryRun,
} from "../../src/db/export-leases-repo.ts";
import {
  type ExportRunKey,
  type ExportRunRow,
  listExportFiles,
  startRuns,
} from "../../src/db/export-runs-repo.ts";
import {
  type HeldRow,
  listDue,
  releaseLease,
  renewLease,
  takeLease,
} from "../../src/db/leases-repo.ts";
import { TestExports } from "./export-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

/** Creates an export of three days, all of whose runs are due at 100. */
async function running() {
  const tests = await new TestExports().open();
  const id = await tests.add();
  const { workspaceId } = tests;
  await startExports(env.DB, workspaceId, { limit: 1, now: 100 });
  await startRuns(env.DB, workspaceId, { exportId: id, limit: 3, now: 100 });
  const runs = await tests.runs(id);
  const key = (index: number, lease: string): HeldRow<ExportRunKey> => {
    const run = runs[index];
    assert.isDefined(run);
    return { workspaceId, runId: run.id, lease };
  };
  const run = async (index: number): Promise<ExportRunRow | undefined> =>
    (await tests.runs(id))[index];
  const status = async (): Promise<string | undefined> =>
    (await selectBulkExport(env.DB, workspaceId, id))?.status;
  return { tests, id, workspaceId, key, run, status };
}

const FILE = { number: 0, key: "a/b.parquet", rows: 10, bytes: 99, first_start: 1, last_start: 2 };

test("a run has one worker, until its lease expires", async () => {
  const { key } = await running();
  assert.isUndefined(
    await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "early"), { now: 99, until: 200 }),
  );
  const taken = await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "one"), { now: 100, until: 200 });
  assert.deepEqual(
    [taken?.lease, taken?.interruptions, taken?.attempt_started_at, taken?.credentials_version],
    ["one", 0, 100, 1],
  );
  assert.isUndefined(
    await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "two"), { now: 199, until: 300 }),
  );
  assert.isTrue(await renewLease(env.DB, EXPORT_RUN_WORK, key(0, "one"), 250));
  assert.isUndefined(
    await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "two"), { now: 200, until: 300 }),
  );
  const after = await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "two"), { now: 250, until: 300 });
  assert.deepEqual(
    [after?.lease, after?.interruptions, after?.attempt_started_at],
    ["two", 1, 100],
  );
  assert.isFalse(await renewLease(env.DB, EXPORT_RUN_WORK, key(0, "one"), 900));
});

test("a worker that lost its lease can record nothing, end nothing and fail nothing", async () => {
  const { key, run, id, workspaceId, status } = await running();
  await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "late"), { now: 100, until: 101 });
  await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "new"), { now: 102, until: 200 });
  const late = key(0, "late");
  assert.isFalse(await recordFile(env.DB, late, FILE, { cursor: "c", now: 103 }));
  assert.isFalse(await releaseLease(env.DB, EXPORT_RUN_WORK, late, { dueAt: 103, now: 103 }));
  assert.isFalse(await retryRun(env.DB, late, { error: "e", dueAt: 1, now: 103 }));
  await completeRun(env.DB, late, { exportId: id, now: 103 });
  await failRun(env.DB, late, { exportId: id, error: "e", now: 103 });
  const row = await run(0);
  assert.deepEqual(
    [row?.status, row?.lease, row?.rows_written, row?.errors],
    ["RUNNING", "new", 0, null],
  );
  assert.deepEqual(await listExportFiles(env.DB, workspaceId, [late.runId]), []);
  assert.equal(await status(), "RUNNING");
});

test("a file and its progress are recorded together", async () => {
  const { key, run, workspaceId } = await running();
  const one = key(0, "one");
  await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "dead"), { now: 100, until: 100 });
  await takeLease(env.DB, EXPORT_RUN_WORK, one, { now: 101, until: 200 });
  assert.isTrue(await recordFile(env.DB, one, FILE, { cursor: "c0", now: 110 }));
  const second = { ...FILE, number: 1, key: "a/c.parquet", rows: 5 };
  assert.isTrue(await recordFile(env.DB, one, second, { cursor: "c1", now: 120 }));
  const row = await run(0);
  assert.deepEqual(
    [row?.rows_written, row?.files_written, row?.latest_cursor, row?.interruptions],
    [15, 2, "c1", 0],
  );
  const files = await listExportFiles(env.DB, workspaceId, [one.runId]);
  assert.deepEqual(
    files.map(({ number, rows }) => [number, rows]),
    [
      [0, 10],
      [1, 5],
    ],
  );
});

test("a failed attempt leaves its error, keeps the position, and is due later with new credentials", async () => {
  const { key, run, tests } = await running();
  await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "one"), { now: 100, until: 200 });
  await recordFile(env.DB, key(0, "one"), FILE, { cursor: "c0", now: 110 });
  assert.isTrue(await retryRun(env.DB, key(0, "one"), { error: "first", dueAt: 500, now: 120 }));
  await env.DB.prepare("UPDATE export_destinations SET credentials_version = 2 WHERE id = ?")
    .bind(tests.destinationId)
    .run();
  assert.isUndefined(
    await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "two"), { now: 499, until: 600 }),
  );
  const second = await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "two"), { now: 500, until: 600 });
  assert.deepEqual(
    [second?.retry_number, second?.latest_cursor, second?.attempt_started_at],
    [1, "c0", 500],
  );
  assert.equal(second?.credentials_version, 2);
  await retryRun(env.DB, key(0, "two"), { error: "second", dueAt: 900, now: 510 });
  assert.deepEqual(JSON.parse((await run(0))?.errors ?? ""), {
    retry_0: "first",
    retry_1: "second",
  });
});

test("an attempt keeps the credentials that it began with", async () => {
  const { key, tests } = await running();
  await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "one"), { now: 100, until: 200 });
  await releaseLease(env.DB, EXPORT_RUN_WORK, key(0, "one"), { dueAt: 150, now: 150 });
  await env.DB.prepare("UPDATE export_destinations SET credentials_version = 2 WHERE id = ?")
    .bind(tests.destinationId)
    .run();
  const next = await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "two"), { now: 150, until: 300 });
  assert.deepEqual([next?.credentials_version, next?.interruptions], [1, 0]);
  const other = await takeLease(env.DB, EXPORT_RUN_WORK, key(1, "one"), { now: 150, until: 300 });
  assert.equal(other?.credentials_version, 2);
});

test("an export completes with its last run", async () => {
  const { key, id, status, tests } = await running();
  for (const index of [2, 0]) {
    await takeLease(env.DB, EXPORT_RUN_WORK, key(index, "l"), { now: 100, until: 200 });
    assert.deepEqual(await completeRun(env.DB, key(index, "l"), { exportId: id, now: 150 }), {
      exportEnded: false,
    });
  }
  assert.equal(await status(), "RUNNING");
  await takeLease(env.DB, EXPORT_RUN_WORK, key(1, "l"), { now: 100, until: 200 });
  assert.deepEqual(await completeRun(env.DB, key(1, "l"), { exportId: id, now: 160 }), {
    exportEnded: true,
  });
  assert.equal(await status(), "COMPLETED");
  assert.deepEqual(await tests.statuses(id), ["COMPLETED", "COMPLETED", "COMPLETED"]);
});

test("a run that fails finally fails its export, and ends its siblings", async () => {
  const { key, id, status, run, tests } = await running();
  await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "l"), { now: 100, until: 200 });
  await completeRun(env.DB, key(0, "l"), { exportId: id, now: 110 });
  await takeLease(env.DB, EXPORT_RUN_WORK, key(1, "l"), { now: 100, until: 200 });
  await failRun(env.DB, key(1, "l"), { exportId: id, error: "no bucket", now: 120 });
  assert.equal(await status(), "FAILED");
  assert.deepEqual(await tests.statuses(id), ["COMPLETED", "FAILED", "CANCELLED"]);
  assert.deepEqual(JSON.parse((await run(1))?.errors ?? ""), { retry_0: "no bucket" });
});

test("a cancelled run has no worker any more", async () => {
  const { key, id, workspaceId, run } = await running();
  await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "l"), { now: 100, until: 200 });
  await endExport(env.DB, workspaceId, id, { status: "CANCELLED", now: 110 });
  assert.isFalse(await renewLease(env.DB, EXPORT_RUN_WORK, key(0, "l"), 300));
  assert.isFalse(await recordFile(env.DB, key(0, "l"), FILE, { cursor: "c", now: 120 }));
  await completeRun(env.DB, key(0, "l"), { exportId: id, now: 130 });
  assert.equal((await run(0))?.status, "CANCELLED");
});

test("due runs without a worker are found", async () => {
  const { key, workspaceId } = await running();
  await takeLease(env.DB, EXPORT_RUN_WORK, key(0, "alive"), { now: 100, until: 10_000 });
  await takeLease(env.DB, EXPORT_RUN_WORK, key(1, "dead"), { now: 100, until: 150 });
  const due = await listDue(env.DB, EXPORT_RUN_WORK, 160, 1000);
  const mine = due.filter((run) => run.workspaceId === workspaceId).map(({ runId }) => runId);
  assert.sameMembers(mine, [key(1, "").runId, key(2, "").runId]);
});
