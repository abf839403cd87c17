import { describe, onTestFinished, vi } from "vitest";
import { listKeys, readObject } from "../support/bucket-files.ts";
import {
  createDestination,
  createExport,
  endedExport,
  exportedRows,
  exportFolder,
  readExport,
  readExportRuns,
} from "../support/bulk-exports.ts";
import { DAY_US, daysAgo, isoTime, plainRuns, store } from "../support/export-data.ts";
import { type ProxiedRequest, startFaultProxy } from "../support/fault-proxy.ts";
import { ingestWorkspace } from "../support/ingest.ts";
import { testWithServer, type WorkerServer } from "../support/server.ts";
import { ask, projectId } from "../support/stored-runs.ts";

const ROWS = 12;
const HOUR_US = 3_600_000_000;
const INTERRUPTIONS = 2;

const test = testWithServer({
  EXPORT_LIMITS: {
    rows_per_file: 5,
    interruptions: INTERRUPTIONS,
    retry_delay_seconds: 1,
    retries: 1,
  },
});

/** Gives messages to the Worker beside the local queue, which delivers them one after the other. */
async function deliver({ worker }: WorkerServer, ...bodies: unknown[]): Promise<void> {
  const asked = await worker();
  await Promise.all(
    bodies.map((body) =>
      asked.queue("threadworks-export-steps", [
        { id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body },
      ]),
    ),
  );
}

const isFile = ({ method, path }: ProxiedRequest, number: number): boolean =>
  method === "PUT" && path.endsWith(`runs-0000${number}.parquet`);

/** Prepares an export that is at work on its second file, which does not reach the bucket before `release`. */
async function heldExport(server: WorkerServer, name: string) {
  const workspace = await ingestWorkspace(server, name);
  const from = daysAgo(2);
  const runs = plainRuns("p", { from, count: ROWS, everyUs: HOUR_US });
  await store(workspace, runs);
  const proxy = await startFaultProxy(server.s3);
  onTestFinished(() => proxy.close());
  const destination = await createDestination(workspace, {
    ...server.s3,
    endpoint: proxy.endpoint,
  });
  const { promise, resolve: release } = Promise.withResolvers<void>();
  onTestFinished(() => release());
  let held = 0;
  proxy.follow((request) => {
    if (!isFile(request, 1) || held > 0) return undefined;
    held += 1;
    return { kind: "hold", until: promise };
  });
  const project = await projectId(workspace, "p");
  const { id } = await createExport(workspace, {
    bulk_export_destination_id: destination,
    session_id: project,
    start_time: isoTime(from),
    end_time: isoTime(from + DAY_US),
  });
  await vi.waitUntil(() => held > 0, 60_000);
  const [run] = await readExportRuns(workspace, id);
  const count = (isMeant: (request: ProxiedRequest) => boolean): number =>
    proxy.requests.filter(isMeant).length;
  return {
    workspace,
    runs,
    project,
    id,
    message: { workspaceId: workspace.id, runId: run?.id ?? "" },
    release,
    count,
    /** Resolves when the held step has ended. */
    heldStepEnds: async () => {
      const isAsked = ({ method, path }: ProxiedRequest): boolean =>
        method === "HEAD" && path.endsWith("runs-00001.parquet");
      const before = count(isAsked);
      release();
      await vi.waitUntil(() => count(isAsked) > before, 60_000);
      // The queue is free again once it has delivered another message.
      await completeAnother(server);
    },
  };
}

/** Runs an export without data from beginning to end. */
async function completeAnother(server: WorkerServer): Promise<void> {
  const workspace = await ingestWorkspace(server, "another");
  await store(workspace, plainRuns("p", { from: daysAgo(1), count: 1, everyUs: 1 }));
  const { id } = await createExport(workspace, {
    bulk_export_destination_id: await createDestination(workspace, server.s3),
    session_id: await projectId(workspace, "p"),
    start_time: isoTime(daysAgo(3)),
    end_time: isoTime(daysAgo(2)),
  });
  await endedExport(workspace, id);
}

/** Makes the lease expire, as if its step did not renew it any more. */
async function expireLease(server: WorkerServer, runId: string): Promise<void> {
  await server.database.run("UPDATE export_runs SET due_at = 0 WHERE id = ?", [runId]);
}

describe("a step that is silent", () => {
  test("is taken over, and can no longer record anything", async ({ server, expect }) => {
    const held = await heldExport(server, "taken over");
    const { workspace, id, message, runs } = held;
    await deliver(server, message);
    expect(held.count((request) => isFile(request, 1))).toBe(1);

    await expireLease(server, message.runId);
    await vi.waitUntil(async () => {
      await deliver(server, message);
      return (await readExport(workspace, id)).status === "COMPLETED";
    }, 60_000);
    const before = await readExportRuns(workspace, id);
    const rows = await exportedRows(server.s3, id, { select: "id" });
    const keys = await listKeys(server.s3, exportFolder(id));
    const manifest = await readObject(server.s3, keys[0] ?? "");
    await held.heldStepEnds();

    expect(before.map(({ metadata }) => metadata.result.rows_written)).toEqual([ROWS]);
    expect(rows).toEqual(runs.map((run) => ({ id: run.id })));
    expect(held.count((request) => isFile(request, 1))).toBe(2);
    expect(await readExportRuns(workspace, id)).toEqual(before);
    expect(await exportedRows(server.s3, id, { select: "id" })).toEqual(rows);
    expect(await listKeys(server.s3, exportFolder(id))).toEqual(keys);
    expect(await readObject(server.s3, keys[0] ?? "")).toEqual(manifest);
  });

  test("is taken over with more work to do, which is done once", async ({ server, expect }) => {
    const held = await heldExport(server, "more to do");
    const { workspace, id, message, runs } = held;
    await expireLease(server, message.runId);
    await deliver(server, message);
    const [between] = await readExportRuns(workspace, id);
    expect(between).toMatchObject({
      status: "RUNNING",
      metadata: { result: { rows_written: 10 } },
    });

    held.release();

    const { ended } = await endedExport(workspace, id);
    expect(ended.status).toBe("COMPLETED");
    expect(await exportedRows(server.s3, id, { select: "id" })).toEqual(
      runs.map((run) => ({ id: run.id })),
    );
    const [run] = await readExportRuns(workspace, id);
    expect(run).toMatchObject({ retry_number: 0, metadata: { result: { rows_written: ROWS } } });
    expect(held.count((request) => isFile(request, 2))).toBe(1);
  });

  test("costs an attempt when that happens too often in a row", async ({ server, expect }) => {
    const held = await heldExport(server, "interrupted");
    const { workspace, id, message } = held;
    await server.database.run("UPDATE export_runs SET due_at = 0, interruptions = ? WHERE id = ?", [
      INTERRUPTIONS,
      message.runId,
    ]);

    await deliver(server, message);

    const [run] = await readExportRuns(workspace, id);
    expect(run).toMatchObject({
      status: "RUNNING",
      retry_number: 1,
      errors: {
        retry_0: expect.stringMatching(/^The export run was interrupted 3 times in a row behind /),
      },
    });
    held.release();
    const { ended, runs } = await endedExport(workspace, id);
    expect(ended.status).toBe("COMPLETED");
    expect(runs.map(({ metadata }) => metadata.result.rows_written)).toEqual([ROWS]);
  });

  test("is found by the sweep", async ({ server, expect }) => {
    const held = await heldExport(server, "swept");
    await server.database.run(
      "UPDATE export_runs SET lease = 'of the dead', due_at = 0 WHERE id = ?",
      [held.message.runId],
    );
    // The queue is busy until then, and has no message about this run.
    await held.heldStepEnds();
    expect((await readExport(held.workspace, held.id)).status).toBe("RUNNING");

    await server.sweep();

    const { ended, runs } = await endedExport(held.workspace, held.id);
    expect(ended.status).toBe("COMPLETED");
    expect(runs.map(({ metadata }) => metadata.result.rows_written)).toEqual([ROWS]);
  });
});

describe("an export run", () => {
  test("is worked on by one step at a time, however often it is requested", async ({
    server,
    expect,
  }) => {
    const held = await heldExport(server, "one at a time");
    const { message, workspace, id } = held;

    await deliver(server, ...Array.from({ length: 8 }, () => message));
    held.release();
    for (let round = 0; round < 4; round += 1) {
      await deliver(server, ...Array.from({ length: 8 }, () => message));
    }
    await endedExport(workspace, id);
    await deliver(server, message, message);

    for (const number of [0, 1, 2]) {
      expect(held.count((request) => isFile(request, number))).toBe(1);
    }
    const [run] = await readExportRuns(workspace, id);
    expect(run?.metadata.result.rows_written).toBe(ROWS);
  });

  test("is not started by a message of any other form", async ({ server, expect }) => {
    const held = await heldExport(server, "strange messages");
    const { message, workspace, id } = held;
    await expireLease(server, message.runId);

    await deliver(
      server,
      null,
      "text",
      {},
      { ...message, workspaceId: crypto.randomUUID() },
      { ...message, runId: crypto.randomUUID() },
    );

    expect(held.count((request) => isFile(request, 1))).toBe(1);
    held.release();
    expect((await endedExport(workspace, id)).ended.status).toBe("COMPLETED");
  });

  test("records nothing when it was cancelled meanwhile", async ({ server, expect }) => {
    const held = await heldExport(server, "cancelled");
    const { workspace, id } = held;
    await workspace.api("PATCH", `/bulk-exports/${id}`, { status: "Cancelled" });
    const before = await readExportRuns(workspace, id);

    await held.heldStepEnds();

    expect(before.map(({ status, metadata }) => [status, metadata.result.rows_written])).toEqual([
      ["CANCELLED", 5],
    ]);
    expect(await readExportRuns(workspace, id)).toEqual(before);
    expect(held.count((request) => isFile(request, 2))).toBe(0);
  });

  test("fails when its project was deleted meanwhile", async ({ server, expect }) => {
    const held = await heldExport(server, "deleted");
    const { workspace, id, project } = held;
    await ask(workspace, "DELETE", `/sessions/${project}`);

    held.release();

    const { ended, runs } = await endedExport(workspace, id);
    expect(ended.status).toBe("FAILED");
    expect(runs.map(({ errors }) => errors)).toEqual([
      { retry_0: "The tracing project was deleted" },
    ]);
  });

  test("ends with its export after 72 hours", async ({ server, expect }) => {
    const held = await heldExport(server, "overdue");
    const { workspace, id } = held;
    const worker = await server.worker();
    const sweepIn = (hours: number) =>
      worker.scheduled({
        cron: "* * * * *",
        scheduledTime: new Date(Date.now() + hours * 3_600_000),
      });

    await sweepIn(71.9);
    expect((await readExport(workspace, id)).status).toBe("RUNNING");
    await sweepIn(72);
    const before = await readExportRuns(workspace, id);
    await held.heldStepEnds();

    expect((await readExport(workspace, id)).status).toBe("TIMEDOUT");
    expect(before.map(({ status }) => status)).toEqual(["TIMEDOUT"]);
    expect(await readExportRuns(workspace, id)).toEqual(before);
    expect(
      (await workspace.api("PATCH", `/bulk-exports/${id}`, { status: "Cancelled" })).status,
    ).toBe(409);
  });
});
