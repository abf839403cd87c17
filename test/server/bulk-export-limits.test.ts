import { describe, onTestFinished, vi } from "vitest";
import {
  createDestination,
  createExport,
  endedExport,
  readExport,
  readExportRuns,
} from "../support/bulk-exports.ts";
import { DAY_US, daysAgo, isoTime, plainRuns, store } from "../support/export-data.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { ingestWorkspace } from "../support/ingest.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { projectId } from "../support/stored-runs.ts";

const test = testWithServer({
  EXPORT_LIMITS: { runs_per_export: 2 },
  PLAN_QUOTAS: JSON.stringify({ enterprise: { exports_at_once: 2 } }),
});

/** Prepares a workspace with runs on four days, whose destination holds back every file until `open`. */
async function closedBucket(server: TestServer, name: string) {
  const workspace = await ingestWorkspace(server, name);
  const from = daysAgo(4);
  await store(workspace, plainRuns("p", { from, count: 8, everyUs: DAY_US / 2 }));
  const { promise, resolve } = Promise.withResolvers<void>();
  const proxy: FaultProxy = await startFaultProxy(server.s3);
  onTestFinished(() => proxy.close());
  onTestFinished(() => resolve());
  const bucket = { ...server.s3, endpoint: proxy.endpoint };
  const body = {
    bulk_export_destination_id: await createDestination(workspace, bucket),
    session_id: await projectId(workspace, "p"),
    start_time: isoTime(from),
    end_time: isoTime(from + 4 * DAY_US),
  };
  proxy.follow(({ method }) => (method === "PUT" ? { kind: "hold", until: promise } : undefined));
  return { workspace, body, open: resolve };
}

describe("limits", () => {
  test("apply to the runs at work in an export, and the earliest days come first", async ({
    server,
    expect,
  }) => {
    const { workspace, body, open } = await closedBucket(server, "runs");
    const { id } = await createExport(workspace, body);
    const statuses = async () => (await readExportRuns(workspace, id)).map(({ status }) => status);

    await server.sweep();
    await server.sweep();
    expect(await statuses()).toEqual(["RUNNING", "RUNNING", "CREATED", "CREATED"]);

    open();
    const seen = new Set<string>();
    await vi.waitUntil(
      async () => {
        seen.add(String(await statuses()));
        return (await readExport(workspace, id)).status === "COMPLETED";
      },
      { timeout: 150_000, interval: 5 },
    );
    expect(await statuses()).toEqual(Array(4).fill("COMPLETED"));
    for (const list of seen) expect(list.split("RUNNING").length - 1).toBeLessThanOrEqual(2);
  });

  test("apply to the exports at work in a workspace, and the first ones come first", async ({
    server,
    expect,
  }) => {
    const { workspace, body, open } = await closedBucket(server, "exports");
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      ids.push((await createExport(workspace, body)).id);
    }
    const statuses = async () =>
      Promise.all(ids.map(async (id) => (await readExport(workspace, id)).status));

    await server.sweep();
    expect(await statuses()).toEqual(["RUNNING", "RUNNING", "CREATED", "CREATED"]);
    // Another workspace has its own limit.
    const other = await closedBucket(server, "other");
    expect((await createExport(other.workspace, other.body)).status).toBe("RUNNING");

    const [first = ""] = ids;
    await workspace.api("PATCH", `/bulk-exports/${first}`, { status: "Cancelled" });
    expect(await statuses()).toEqual(["CANCELLED", "RUNNING", "RUNNING", "CREATED"]);
    other.open();
    open();
    for (const id of ids.slice(1)) {
      expect((await endedExport(workspace, id)).ended.status).toBe("COMPLETED");
    }
  });

  test("allow a waiting export to be cancelled", async ({ server, expect }) => {
    const { workspace, body, open } = await closedBucket(server, "waiting");
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push((await createExport(workspace, body)).id);
    }
    const [, , last = ""] = ids;
    expect((await readExport(workspace, last)).status).toBe("CREATED");
    await workspace.api("PATCH", `/bulk-exports/${last}`, { status: "Cancelled" });
    open();
    for (const id of ids.slice(0, 2)) await endedExport(workspace, id);
    const { ended, runs } = await endedExport(workspace, last);
    expect(ended.status).toBe("CANCELLED");
    expect(runs.map(({ status, metadata }) => [status, metadata.result.rows_written])).toEqual(
      runs.map(() => ["CANCELLED", 0]),
    );
  });
});
