import { describe } from "vitest";
import { listKeys, readObject } from "../support/bucket-files.ts";
import {
  completedExport,
  createDestination,
  createExport,
  exportedRows,
  exportFolder,
  readExport,
} from "../support/bulk-exports.ts";
import { DAY_US, daysAgo, isoTime, plainRuns, store } from "../support/export-data.ts";
import { ingestWorkspace } from "../support/ingest.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { ask, projectId } from "../support/stored-runs.ts";
import { answerWithout, type PathIds, type Route, routesWithIds } from "../support/tenancy.ts";
import { MISSING_ID } from "../support/uuid.ts";

/** Creates a workspace with a project, a destination, a finished export and a schedule. */
async function tenant(server: TestServer, name: string) {
  const workspace = await ingestWorkspace(server, name);
  const from = daysAgo(3);
  const runs = plainRuns("shared name", { from, count: 12, everyUs: DAY_US / 10 });
  await store(workspace, runs);
  const body = {
    bulk_export_destination_id: await createDestination(workspace, server.s3),
    session_id: await projectId(workspace, "shared name"),
    start_time: isoTime(from),
    end_time: isoTime(from + 2 * DAY_US),
  };
  const { ended, runs: exportRuns } = await completedExport(workspace, body);
  const { end_time: _, ...open } = body;
  const schedule = await createExport(workspace, {
    ...open,
    start_time: isoTime(daysAgo(0)),
    interval_hours: 168,
  });
  return { workspace, runs, body, ended, exportRuns, schedule };
}

const test = testWithServer()
  .extend("acme", { scope: "file" }, ({ server }) => tenant(server, "acme"))
  .extend("other", { scope: "file" }, ({ server }) => tenant(server, "other"));

type Tenant = Awaited<ReturnType<typeof tenant>>;

async function exportRoutes(server: TestServer): Promise<Route[]> {
  const routes = await routesWithIds(server);
  return routes.filter(({ path }) => path.includes("bulk-exports"));
}

function idsOf({ body, ended, exportRuns }: Tenant): PathIds {
  return {
    bulk_export_id: ended.id,
    run_id: exportRuns[0]?.id ?? "",
    destination_id: body.bulk_export_destination_id,
  };
}

describe("another workspace", () => {
  test("finds nothing by the first one's ids", async ({ server, acme, other, expect }) => {
    const routes = await exportRoutes(server);
    expect(routes.length).toBeGreaterThan(5);
    const ids = idsOf(acme);
    const missing = Object.fromEntries(Object.keys(ids).map((name) => [name, MISSING_ID]));
    const { apiKey } = other.workspace;
    for (const route of routes) {
      const requestBody = route.path.includes("destinations")
        ? { credentials: { access_key_id: "some-id", secret_access_key: "some secret" } }
        : { status: "Cancelled" };
      const request = { apiKey, body: requestBody };
      const found = await answerWithout(server, route, ids, request);
      expect([route, found]).toEqual([route, await answerWithout(server, route, missing, request)]);
      expect([route, found.status]).toEqual([route, 404]);
    }
    expect((await readExport(acme.workspace, acme.ended.id)).status).toBe("COMPLETED");
  });

  test("does not list the first one's resources", async ({ acme, other, expect }) => {
    for (const [own, foreign] of [
      [acme, other],
      [other, acme],
    ] as const) {
      const lists = [
        await ask<unknown[]>(own.workspace, "GET", "/bulk-exports"),
        await ask<unknown[]>(own.workspace, "GET", "/bulk-exports/destinations"),
      ];
      expect(lists.map((list) => list.length)).toEqual([2, 1]);
      const text = JSON.stringify(lists);
      for (const id of [
        foreign.workspace.id,
        ...Object.values(idsOf(foreign)),
        foreign.schedule.id,
      ]) {
        expect([id, text.includes(id)]).toEqual([id, false]);
      }
    }
  });

  test("cannot export to the first one's destinations, or from its projects", async ({
    acme,
    other,
    expect,
  }) => {
    const { bulk_export_destination_id, session_id } = acme.body;
    for (const [own, missing] of [
      [{ bulk_export_destination_id }, { bulk_export_destination_id: MISSING_ID }],
      [{ session_id }, { session_id: MISSING_ID }],
    ]) {
      const answers = [];
      for (const change of [own, missing]) {
        const body = { ...other.body, ...change };
        const response = await other.workspace.api("POST", "/bulk-exports", body);
        answers.push([response.status, await response.text()]);
      }
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.[0]).toBe(404);
    }
  });

  test("cannot list the runs that the first one's schedules have spawned", async ({
    acme,
    other,
    expect,
  }) => {
    const answers = [];
    for (const id of [acme.schedule.id, MISSING_ID]) {
      const path = `/bulk-exports/runs?source_bulk_export_id=${id}`;
      const response = await other.workspace.api("GET", path);
      answers.push([response.status, await response.text()]);
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  test("has separate files, with its own runs only", async ({ server, acme, other, expect }) => {
    for (const { workspace, ended, runs } of [acme, other]) {
      const rows = await exportedRows(server.s3, ended.id);
      expect(rows.map(({ id }) => id)).toEqual(runs.map(({ id }) => id));
      expect(new Set(rows.map(({ tenant_id }) => tenant_id))).toEqual(new Set([workspace.id]));
      const keys = await listKeys(server.s3, exportFolder(ended.id));
      expect(keys.every((key) => key.includes(`/tenant_id=${workspace.id}/`))).toBe(true);
    }
    const all = await listKeys(server.s3, "exports/export_id=");
    expect(all).toHaveLength(8);
    const foreign = acme.workspace.id;
    for (const key of await listKeys(server.s3, exportFolder(other.ended.id))) {
      const text = Buffer.from(await readObject(server.s3, key)).toString("latin1");
      expect([key, text.includes(foreign)]).toEqual([key, false]);
    }
  });
});
