import { describe, vi } from "vitest";
import {
  asQueried,
  createDestination,
  createExport,
  endedExport,
  exportedRows,
  type ExportJson,
  type ExportRunJson,
  queriedRuns,
  readExport,
  readExportRuns,
} from "../support/bulk-exports.ts";
import { DAY_US, daysAgo, isoTime, plainRuns, store } from "../support/export-data.ts";
import { ingestWorkspace, type IngestWorkspace } from "../support/ingest.ts";
import { testWithServer, type WorkerServer } from "../support/server.ts";
import { ask, projectId } from "../support/stored-runs.ts";
import { MISSING_ID } from "../support/uuid.ts";

const HOUR_US = 3_600_000_000;
const DELAY_SECONDS = 600;

const test = testWithServer({ EXPORT_LIMITS: { schedule_delay_seconds: DELAY_SECONDS } });

/** Prepares a workspace with runs in every six hours of the last days, and the body of a schedule. */
async function scheduled(server: WorkerServer, name: string, startUs: number, hours: number) {
  const workspace = await ingestWorkspace(server, name);
  const runs = plainRuns("p", { from: daysAgo(4), count: 24, everyUs: 4 * HOUR_US });
  await store(workspace, runs);
  const project = await projectId(workspace, "p");
  const body = {
    bulk_export_destination_id: await createDestination(workspace, server.s3),
    session_id: project,
    start_time: isoTime(startUs),
    interval_hours: hours,
  };
  return { workspace, project, body, runs };
}

/** Returns the exports that the schedule has spawned, the earliest range first. */
async function spawnedBy(workspace: IngestWorkspace, schedule: string): Promise<ExportJson[]> {
  const all = await ask<ExportJson[]>(workspace, "GET", "/bulk-exports");
  return all
    .filter(({ source_bulk_export_id: source }) => source === schedule)
    .toSorted((a, b) => (String(a["start_time"]) < String(b["start_time"]) ? -1 : 1));
}

function rangesOf(exports: readonly ExportJson[]): unknown[][] {
  return exports.map(({ start_time, end_time }) => [start_time, end_time]);
}

/** Runs the cron trigger at another time. */
async function sweepAt(server: WorkerServer, micros: number): Promise<void> {
  const scheduledTime = new Date(Math.ceil(micros / 1000));
  await (await server.worker()).scheduled({ cron: "* * * * *", scheduledTime });
}

describe("a schedule", () => {
  test("exports past ranges at once, in adjoining ranges", async ({ server, expect }) => {
    const start = daysAgo(3) + 6 * HOUR_US;
    const { workspace, project, body } = await scheduled(server, "past", start, 12);

    const schedule = await createExport(workspace, body);

    expect(schedule).toMatchObject({
      status: "CREATED",
      interval_hours: 12,
      end_time: null,
      source_bulk_export_id: null,
    });
    const nowUs = Date.now() * 1000;
    const due = Math.floor((nowUs - DELAY_SECONDS * 1_000_000 - start) / (12 * HOUR_US));
    const spawned = await spawnedBy(workspace, schedule.id);
    expect(rangesOf(spawned)).toEqual(
      Array.from({ length: due }, (_, index) => [
        isoTime(start + index * 12 * HOUR_US),
        isoTime(start + (index + 1) * 12 * HOUR_US),
      ]),
    );
    expect(spawned.map(({ interval_hours }) => interval_hours)).toEqual(spawned.map(() => null));
    const rows = [];
    for (const { id } of spawned) {
      expect((await endedExport(workspace, id)).ended.status).toBe("COMPLETED");
      const runs = await readExportRuns(workspace, id);
      const count = runs.reduce((sum, { metadata }) => sum + metadata.result.rows_written, 0);
      if (count > 0) rows.push(...(await exportedRows(server.s3, id)));
    }
    const end = start + due * 12 * HOUR_US;
    const queried = (await queriedRuns(workspace, project)).filter(
      ({ start_time }) => String(start_time) >= isoTime(start) && String(start_time) < isoTime(end),
    );
    expect(queried.length).toBeGreaterThan(10);
    expect(rows.map((row) => asQueried(row, "v1"))).toEqual(queried);
    expect((await readExport(workspace, schedule.id)).status).toBe("CREATED");
    expect(await readExportRuns(workspace, schedule.id)).toEqual([]);
  });

  test("exports each range once, the configured seconds after its end", async ({
    server,
    expect,
  }) => {
    const start = Math.floor(Date.now() / 1000) * 1_000_000 + 123_456;
    const { workspace, body } = await scheduled(server, "future", start, 1);
    const schedule = await createExport(workspace, body);
    const firstDue = start + HOUR_US + DELAY_SECONDS * 1_000_000;

    await sweepAt(server, firstDue - 1_000_000);
    expect(await spawnedBy(workspace, schedule.id)).toEqual([]);
    await Promise.all([1, 2, 3].map(() => sweepAt(server, firstDue)));
    expect(rangesOf(await spawnedBy(workspace, schedule.id))).toEqual([
      [isoTime(start), isoTime(start + HOUR_US)],
    ]);
    await Promise.all([1, 2, 3].map(() => sweepAt(server, firstDue + 2 * HOUR_US)));

    expect(rangesOf(await spawnedBy(workspace, schedule.id))).toEqual([
      [isoTime(start), isoTime(start + HOUR_US)],
      [isoTime(start + HOUR_US), isoTime(start + 2 * HOUR_US)],
      [isoTime(start + 2 * HOUR_US), isoTime(start + 3 * HOUR_US)],
    ]);
  });

  test("spawns exports with its own settings", async ({ server, expect }) => {
    const start = daysAgo(2);
    const { workspace, body } = await scheduled(server, "alike", start, 24);
    const asked = {
      filter: 'eq(run_type, "llm")',
      format_version: "v2_beta",
      compression: "snappy",
      export_fields: ["id", "run_type"],
    };

    const { id } = await createExport(workspace, { ...body, ...asked });

    const [first] = await spawnedBy(workspace, id);
    expect(first).toMatchObject(asked);
    const { ended } = await endedExport(workspace, first?.id ?? "");
    const rows = await exportedRows(server.s3, ended.id);
    expect(rows).toEqual([1, 2].map(() => ({ id: expect.any(String), run_type: "llm" })));
  });

  test("lists the runs of all exports that it has spawned", async ({ server, expect }) => {
    const { workspace, body } = await scheduled(server, "runs", daysAgo(3), 24);
    const { id } = await createExport(workspace, body);
    const spawned = await spawnedBy(workspace, id);
    for (const child of spawned) await endedExport(workspace, child.id);

    const path = `/bulk-exports/runs?source_bulk_export_id=${id}`;
    const runs = await ask<ExportRunJson[]>(workspace, "GET", path);

    expect(runs.map(({ bulk_export_id: parent }) => parent)).toEqual(spawned.map(({ id }) => id));
    expect(await ask<unknown[]>(workspace, "GET", `${path}&limit=1&offset=1`)).toEqual([runs[1]]);
    expect((await workspace.api("GET", "/bulk-exports/runs")).status).toBe(422);
    const missing = `/bulk-exports/runs?source_bulk_export_id=${MISSING_ID}`;
    expect((await workspace.api("GET", missing)).status).toBe(404);
  });

  test("spawns no more exports after it is cancelled, and leaves earlier ones alone", async ({
    server,
    expect,
  }) => {
    const { workspace, body } = await scheduled(server, "cancelled", daysAgo(3), 24);
    const { id } = await createExport(workspace, body);
    const before = await spawnedBy(workspace, id);

    const cancelled = await ask(workspace, "PATCH", `/bulk-exports/${id}`, { status: "Cancelled" });
    await sweepAt(server, Date.now() * 1000 + 2 * DAY_US);

    expect(cancelled["status"]).toBe("CANCELLED");
    const after = await spawnedBy(workspace, id);
    expect(after.map((child) => child.id)).toEqual(before.map((child) => child.id));
    for (const child of after) {
      expect((await endedExport(workspace, child.id)).ended.status).toBe("COMPLETED");
    }
  });

  test("ends when its project is deleted", async ({ server, expect }) => {
    const { workspace, body, project } = await scheduled(server, "deleted", daysAgo(0), 24);
    const { id } = await createExport(workspace, body);

    await ask(workspace, "DELETE", `/sessions/${project}`);
    await sweepAt(server, Date.now() * 1000 + 2 * DAY_US);

    await vi.waitFor(
      async () => expect((await readExport(workspace, id)).status).toBe("CANCELLED"),
      150_000,
    );
    expect(await spawnedBy(workspace, id)).toEqual([]);
  });
});
