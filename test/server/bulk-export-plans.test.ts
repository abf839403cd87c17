import { describe } from "vitest";
import { setWorkspacePlan } from "../../cli/database/identity.ts";
import {
  createDestination,
  createExport,
  endedExport,
  type ExportJson,
  readExport,
} from "../support/bulk-exports.ts";
import { daysAgo, isoTime, plainRuns, store } from "../support/export-data.ts";
import { ingestWorkspace, type IngestWorkspace } from "../support/ingest.ts";
import { testWithServer, type WorkerServer } from "../support/server.ts";
import { ask, projectId } from "../support/stored-runs.ts";

const HOUR_US = 3_600_000_000;
const HOUR_MS = 3_600_000;
const REASON = "Bulk export needs the plan Plus or Enterprise";

const test = testWithServer({ EXPORT_LIMITS: { schedule_delay_seconds: 60 } });

/** Runs the cron trigger some hours ahead of now. */
async function sweepIn(server: WorkerServer, hours: number): Promise<void> {
  const scheduledTime = new Date(Date.now() + hours * HOUR_MS);
  await (await server.worker()).scheduled({ cron: "* * * * *", scheduledTime });
}

async function countSpawned(workspace: IngestWorkspace, schedule: string): Promise<number> {
  const all = await ask<ExportJson[]>(workspace, "GET", "/bulk-exports");
  return all.filter(({ source_bulk_export_id: source }) => source === schedule).length;
}

/** Creates a schedule with hourly ranges, the first of which is over in an hour. */
async function schedule(server: WorkerServer, name: string) {
  const workspace = await ingestWorkspace(server, name);
  await store(workspace, plainRuns("p", { from: daysAgo(1), count: 3, everyUs: HOUR_US }));
  const { id } = await createExport(workspace, {
    bulk_export_destination_id: await createDestination(workspace, server.s3),
    session_id: await projectId(workspace, "p"),
    start_time: isoTime(Date.now() * 1000),
    interval_hours: 1,
  });
  return { workspace, id };
}

describe("after a downgrade", () => {
  test("a schedule spawns nothing and gives the reason, until the plan is back", async ({
    server,
    expect,
  }) => {
    const { workspace, id } = await schedule(server, "downgraded");
    expect(await readExport(workspace, id)).toMatchObject({ hold_reason: null });

    await setWorkspacePlan(server.database, workspace.id, "developer");
    await sweepIn(server, 3);

    expect(await readExport(workspace, id)).toMatchObject({
      status: "CREATED",
      hold_reason: REASON,
    });
    expect(await countSpawned(workspace, id)).toBe(0);

    await setWorkspacePlan(server.database, workspace.id, "plus");
    // A held schedule is checked again after ten minutes at the earliest.
    await sweepIn(server, 3.1);
    expect(await countSpawned(workspace, id)).toBe(0);
    await sweepIn(server, 3.2);

    // The missed ranges are exported, too.
    expect(await countSpawned(workspace, id)).toBe(3);
    expect(await readExport(workspace, id)).toMatchObject({ hold_reason: null });
  });

  test("a held schedule that is cancelled is no longer held", async ({ server, expect }) => {
    const { workspace, id } = await schedule(server, "cancelled");
    await setWorkspacePlan(server.database, workspace.id, "developer");
    await sweepIn(server, 3);

    await ask(workspace, "PATCH", `/bulk-exports/${id}`, { status: "Cancelled" });

    expect(await readExport(workspace, id)).toMatchObject({
      status: "CANCELLED",
      hold_reason: null,
    });
  });

  test("an export that was requested before is finished", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "finished");
    await store(workspace, plainRuns("p", { from: daysAgo(1), count: 3, everyUs: HOUR_US }));
    const body = {
      bulk_export_destination_id: await createDestination(workspace, server.s3),
      session_id: await projectId(workspace, "p"),
      start_time: isoTime(daysAgo(2)),
      end_time: isoTime(daysAgo(0)),
    };
    const exports = [await createExport(workspace, body), await createExport(workspace, body)];
    await setWorkspacePlan(server.database, workspace.id, "developer");
    for (const { id } of exports) {
      expect((await endedExport(workspace, id)).ended.status).toBe("COMPLETED");
    }
  });
});
