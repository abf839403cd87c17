import { describe, vi } from "vitest";
import { join } from "node:path";
import { downloadFolder, listKeys, readObject, type TestBucket } from "../support/bucket-files.ts";
import {
  asQueried,
  COLUMNS,
  completedExport,
  createDestination,
  createExport,
  endedExport,
  exportedRows,
  exportFolder,
  filesOf,
  queriedRuns,
  readExport,
  readExportRuns,
} from "../support/bulk-exports.ts";
import { parquetColumns, readParquet } from "../support/duckdb.ts";
import {
  DAY_US,
  daysAgo,
  isoTime,
  plainRuns,
  runAt,
  store,
  storeVariousRuns,
} from "../support/export-data.ts";
import { ingestWorkspace } from "../support/ingest.ts";
import { startS3Server } from "../support/s3-server.ts";
import { testWithServer } from "../support/server.ts";
import { ask, projectId } from "../support/stored-runs.ts";
import { MISSING_ID } from "../support/uuid.ts";

const ROWS_PER_FILE = 10;
const MB = 1024 * 1024;

const FORMATS = ["v1", "v2_beta"] as const;
const COMPRESSIONS = ["none", "gzip", "snappy", "zstandard"] as const;

const test = testWithServer({
  AGENT_AUTH: "api-key",
  EXPORT_LIMITS: { rows_per_file: ROWS_PER_FILE, rows_per_group: 4, part_bytes: 5 * MB },
}).extend("various", { scope: "file" }, async ({ server }) => {
  const workspace = await ingestWorkspace(server, "various");
  const stored = await storeVariousRuns(workspace, "various");
  const destination = await createDestination(workspace, server.s3);
  const body = {
    bulk_export_destination_id: destination,
    session_id: stored.project,
    ...stored.range,
  };
  const inRange = { start_time: stored.range.start_time };
  const ids = new Set(stored.inside.map(({ id }) => id));
  const queried = (await queriedRuns(workspace, stored.project, inRange)).filter(({ id }) =>
    ids.has(String(id)),
  );
  return { workspace, ...stored, body, queried };
});

describe("exported files", () => {
  const cases = FORMATS.flatMap((format_version) =>
    COMPRESSIONS.map((compression) => ({ format_version, compression })),
  );

  test.for(cases)(
    "hold the run query's values: $format_version, $compression",
    async (format, { server, various, expect }) => {
      const { workspace, body, queried, inside } = various;

      const { ended, runs } = await completedExport(workspace, { ...body, ...format });

      const rows = await exportedRows(server.s3, ended.id);
      expect(rows.map((row) => asQueried(row, format.format_version))).toEqual(queried);
      expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(inside.map(({ id }) => id)));
      expect(runs.map(({ metadata }) => metadata.result.rows_written)).toEqual([25, 0, 10, 2]);
    },
  );

  test("are listed by the API with their numbers of rows", async ({ server, various, expect }) => {
    const { workspace, body, project } = various;
    const { ended, runs } = await completedExport(workspace, body);
    const keys = await listKeys(server.s3, exportFolder(ended.id));
    const parquet = keys.filter((key) => key.endsWith(".parquet"));

    expect(filesOf(runs)).toEqual(parquet.map((key) => `${server.s3.bucket}/${key}`));
    expect(runs.map(({ metadata }) => metadata.result.exported_files.length)).toEqual([3, 0, 1, 1]);
    expect(runs.map((run) => [run.start_time, run.end_time])).toEqual(partitionsOf(body));
    for (const { metadata, start_time } of runs) {
      const [year, month, day] = start_time.slice(0, 10).split("-");
      const { export_path, exported_files, rows_written, pending_upload } = metadata.result;
      expect(pending_upload).toBe(null);
      expect(export_path).toBe(
        `${server.s3.bucket}/exports/export_id=${ended.id}/tenant_id=${workspace.id}/session_id=${project}/runs/year=${year}/month=${month}/day=${day}`,
      );
      expect(exported_files.every((file) => file.startsWith(`${export_path}/`))).toBe(true);
      const folder = `${export_path.slice(server.s3.bucket.length + 1)}/`;
      const files = await downloadFolder(server.s3, folder);
      const rows = exported_files.length === 0 ? [] : await readParquet(join(files, "*.parquet"));
      expect(rows).toHaveLength(rows_written);
      const manifest = JSON.parse(
        String(Buffer.from(await readObject(server.s3, `${folder}_manifest.json`))),
      );
      expect(manifest).toMatchObject({
        rows: rows_written,
        files: { length: exported_files.length },
      });
    }
  });

  test("are partitions of a Hive table", async ({ server, various, expect }) => {
    const { workspace, body, project, queried } = various;
    const { ended } = await completedExport(workspace, { ...body, format_version: "v2_beta" });

    const rows = await exportedRows(server.s3, ended.id, {
      hivePartitioning: true,
      select: "id, tenant_id, session_id, resource, concat_ws('-', year, month, day) AS day",
    });

    expect(rows).toEqual(
      queried.map(({ id, start_time }) => ({
        id,
        tenant_id: workspace.id,
        session_id: project,
        resource: "runs",
        day: String(start_time).slice(0, 10),
      })),
    );
  });

  test("have the column types of their version", async ({ server, various, expect }) => {
    const { workspace, body } = various;
    const types: Record<string, Record<string, string>> = {};
    for (const format_version of FORMATS) {
      const { ended } = await completedExport(workspace, { ...body, format_version });
      const folder = await downloadFolder(server.s3, exportFolder(ended.id));
      types[format_version] = await parquetColumns(join(folder, "**/*.parquet"));
    }
    const { v1 = {}, v2_beta = {} } = types;

    expect(Object.keys(v1)).toEqual(COLUMNS);
    expect(Object.keys(v2_beta)).toEqual(COLUMNS);
    expect(typesOf(v1, ["start_time", "end_time", "first_token_time"])).toEqual(
      Array(3).fill("TIMESTAMP WITH TIME ZONE"),
    );
    expect(typesOf(v1, ["inputs", "tags", "parent_run_ids", "total_cost", "is_root"])).toEqual([
      "VARCHAR",
      "VARCHAR",
      "VARCHAR",
      "DOUBLE",
      "BOOLEAN",
    ]);
    expect(
      typesOf(v2_beta, ["start_time", "inputs", "tags", "parent_run_ids", "total_cost"]),
    ).toEqual(["TIMESTAMP WITH TIME ZONE", "JSON", "VARCHAR[]", "VARCHAR[]", "DECIMAL(18,12)"]);
  });

  test("have JSON as it was sent, except for lone surrogates", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "json");
    const from = daysAgo(1);
    const texts = [
      '{"a": 1.0, "b": 12345678901234567890, "c": 1e400, "k": 1, "k": 2, "__proto__": -0}',
      String.raw`{"nul": "\u0000", "pair": "\ud83d\ude00", "slash": "\/", "é": "\u00e9"}`,
      String.raw`{"half": "\ud83d", "other": "\ude00", "backslash": "\\ud83d"}`,
      `{"deep": ${"[".repeat(400)}${"]".repeat(400)}}`,
      '"no object"',
    ];
    const post = texts.map((_, index) =>
      runAt("p", from + index, { inputs: `@${index}`, events: [`@${index}`] }),
    );
    const body = JSON.stringify({ post }).replaceAll(
      /"@(\d)"/g,
      (_, at: number) => texts[at] ?? "",
    );
    expect((await workspace.batch(body)).status).toBe(202);
    const request = {
      bulk_export_destination_id: await createDestination(workspace, server.s3),
      session_id: await projectId(workspace, "p"),
      start_time: isoTime(from),
      end_time: isoTime(from + DAY_US),
      export_fields: ["inputs", "events"],
    };

    const rows: Record<string, unknown[]> = {};
    for (const format_version of FORMATS) {
      const { ended } = await completedExport(workspace, { ...request, format_version });
      rows[format_version] = await exportedRows(server.s3, ended.id);
    }

    const clean = texts.with(
      2,
      String.raw`{"half": "\ufffd", "other": "\ufffd", "backslash": "\\ud83d"}`,
    );
    expect(rows).toEqual({
      v1: texts.map((text) => ({ inputs: text, events: `[${text}]` })),
      v2_beta: clean.map((text) => ({ inputs: text, events: `[${text}]` })),
    });
  });

  test("have runs of the same microsecond once, whatever file they are in", async ({
    server,
    expect,
  }) => {
    const workspace = await ingestWorkspace(server, "ties");
    const from = daysAgo(1);
    const runs = plainRuns("p", { from, count: 35, everyUs: 0 });
    await store(workspace, runs);
    const { ended, runs: exportRuns } = await completedExport(workspace, {
      bulk_export_destination_id: await createDestination(workspace, server.s3),
      session_id: await projectId(workspace, "p"),
      start_time: isoTime(from),
      end_time: isoTime(from + 1),
    });

    const rows = await exportedRows(server.s3, ended.id, { select: "id" });

    expect(filesOf(exportRuns)).toHaveLength(4);
    const ids = runs.map(({ id }) => id).toSorted();
    expect(rows).toEqual(ids.map((id) => ({ id })));
  });

  test("can be written to any S3 server", async ({ various, onTestFinished, expect }) => {
    const { workspace, body, queried } = various;
    const { url, ...server } = await startS3Server();
    onTestFinished(() => server.close());
    const bucket: TestBucket = { ...server, endpoint: url };
    const destination = await createDestination(workspace, bucket);

    for (const format_version of FORMATS) {
      const { ended } = await completedExport(workspace, {
        ...body,
        bulk_export_destination_id: destination,
        format_version,
        compression: "none",
      });
      const rows = await exportedRows(bucket, ended.id);
      expect(rows.map((row) => asQueried(row, format_version))).toEqual(queried);
    }
  });

  test("contain the traces of agents", async ({ server, expect }) => {
    const workspace = await ingestWorkspace(server, "agents");
    const agents = server.client({ apiKey: workspace.apiKey });
    const { thread_id } = await agents.threads.create();
    const input = { messages: [{ role: "user", content: "hello" }] };
    await agents.runs.wait(thread_id, "agent", { input });
    const project = await vi.waitUntil(() => projectId(workspace, "default"), 150_000);
    await vi.waitUntil(async () => {
      const runs = await queriedRuns(workspace, project);
      return runs.length > 3 && runs.every(({ end_time }) => end_time !== null);
    }, 60_000);
    const { ended } = await completedExport(workspace, {
      bulk_export_destination_id: await createDestination(workspace, server.s3),
      session_id: project,
      start_time: isoTime(daysAgo(1)),
      end_time: isoTime(daysAgo(-1)),
    });

    const rows = await exportedRows(server.s3, ended.id);

    expect(rows.map((row) => asQueried(row, "v1"))).toEqual(await queriedRuns(workspace, project));
    expect(rows.map(({ name }) => name)).toContain("ScriptChatModel");
  });
});

describe("an export", () => {
  test("exports the runs that its filter selects", async ({ server, various, expect }) => {
    const { workspace, body, queried } = various;
    const { ended } = await completedExport(workspace, {
      ...body,
      filter: 'and(eq(run_type, "llm"), gt(start_time, "2020-01-01T00:00:00Z"))',
    });

    const rows = await exportedRows(server.s3, ended.id);

    const selected = queried.filter(({ run_type }) => run_type === "llm");
    expect(selected.length).toBeGreaterThan(5);
    expect(rows.map((row) => asQueried(row, "v1"))).toEqual(selected);
  });

  test("exports the chosen columns, in the order of the format", async ({
    server,
    various,
    expect,
  }) => {
    const { workspace, body, queried } = various;
    const export_fields = ["total_cost", "name", "id", "is_root", "name"];
    const { ended } = await completedExport(workspace, { ...body, export_fields });

    const rows = await exportedRows(server.s3, ended.id);

    expect(ended["export_fields"]).toEqual(["id", "name", "is_root", "total_cost"]);
    expect(rows.map((row) => Object.keys(row))).toEqual(
      rows.map(() => ["id", "name", "is_root", "total_cost"]),
    );
    expect(rows.map((row) => asQueried(row, "v1"))).toEqual(
      queried.map(({ id, name, is_root, total_cost }) => ({ id, name, is_root, total_cost })),
    );
  });

  test("is created, runs, and is completed", async ({ various, expect }) => {
    const { workspace, body } = various;
    const created = await createExport(workspace, body);
    const statuses = [created.status];
    await vi.waitUntil(
      async () => {
        const { status } = await readExport(workspace, created.id);
        if (status !== statuses.at(-1)) statuses.push(status);
        return status === "COMPLETED";
      },
      { timeout: 150_000, interval: 5 },
    );

    expect(["CREATED,RUNNING,COMPLETED", "RUNNING,COMPLETED"]).toContain(String(statuses));
    const ended = await readExport(workspace, created.id);
    expect(ended).toEqual({
      ...created,
      status: "COMPLETED",
      updated_at: ended["finished_at"],
      finished_at: expect.stringMatching(/Z$/),
    });
    const runs = await readExportRuns(workspace, created.id);
    expect(runs.map(({ status }) => status)).toEqual(Array(4).fill("COMPLETED"));
    const list = await ask<unknown[]>(workspace, "GET", "/bulk-exports");
    expect(list).toContainEqual(ended);
    expect(await ask(workspace, "GET", "/bulk-exports?offset=1")).toEqual(list.slice(1));
    const path = `/bulk-exports/${ended.id}/runs`;
    expect(await ask(workspace, "GET", `${path}?offset=1`)).toEqual(runs.slice(1));
    expect(await ask(workspace, "GET", `${path}?offset=1&limit=2`)).toEqual(runs.slice(1, 3));
    expect(await ask(workspace, "GET", `/bulk-exports/${ended.id}/runs/${runs[0]?.id}`)).toEqual(
      runs[0],
    );
  });

  test("has manifests but no files if its range has no runs", async ({
    server,
    various,
    expect,
  }) => {
    const { workspace, body } = various;
    const { ended, runs } = await completedExport(workspace, {
      ...body,
      start_time: isoTime(daysAgo(9)),
      end_time: isoTime(daysAgo(7)),
    });

    expect(runs.map(({ metadata }) => metadata.result.rows_written)).toEqual([0, 0]);
    expect(filesOf(runs)).toEqual([]);
    const keys = await listKeys(server.s3, exportFolder(ended.id));
    expect(keys.map((key) => key.split("/").at(-1))).toEqual(["_manifest.json", "_manifest.json"]);
  });

  test.for(["Cancelled", "CANCELLED", "cancelled"])(
    "is %s at the next step, and keeps what is finished",
    async (status, { server, expect }) => {
      const workspace = await ingestWorkspace(server, status);
      const from = daysAgo(4);
      await store(workspace, plainRuns("long", { from, count: 300, everyUs: DAY_US / 100 }));
      const { id } = await createExport(workspace, {
        bulk_export_destination_id: await createDestination(workspace, server.s3),
        session_id: await projectId(workspace, "long"),
        start_time: isoTime(from),
        end_time: isoTime(from + 3 * DAY_US),
      });
      const isPartDone = async () => filesOf(await readExportRuns(workspace, id)).length > 1;
      await vi.waitUntil(isPartDone, { timeout: 150_000, interval: 5 });

      const cancelled = await ask(workspace, "PATCH", `/bulk-exports/${id}`, { status });

      expect(cancelled["status"]).toBe("CANCELLED");
      const before = await readExportRuns(workspace, id);
      expect(before.map((run) => run.status)).toContain("CANCELLED");
      // An export that is created later ends later, so nothing of the first one is left to do then.
      const { ended } = await completedExport(workspace, {
        ...(await readExport(workspace, id).then(creationOf)),
        export_fields: ["id"],
      });
      expect(await readExportRuns(workspace, id)).toEqual(before);
      const keys = await listKeys(server.s3, exportFolder(id));
      for (const file of filesOf(before)) expect(keys).toContain(file.slice(file.indexOf("/") + 1));
      expect(await ask(workspace, "PATCH", `/bulk-exports/${id}`, { status })).toEqual(
        await readExport(workspace, id),
      );
      const again = await workspace.api("PATCH", `/bulk-exports/${ended.id}`, { status });
      expect(again.status).toBe(409);
    },
  );

  test("ends by itself if it is not cancelled", async ({ various, expect }) => {
    const { workspace, body } = various;
    const { id } = await createExport(workspace, body);
    for (const status of ["Completed", "Running", "", 7, null]) {
      const { status: refused } = await workspace.api("PATCH", `/bulk-exports/${id}`, { status });
      expect([status, refused]).toEqual([status, 422]);
    }
    expect((await endedExport(workspace, id)).ended.status).toBe("COMPLETED");
  });
});

describe("an export that is not possible", () => {
  const later = { end_time: isoTime(daysAgo(-400)) };
  const schedule = { interval_hours: 24, end_time: undefined };

  test.for<[what: string, change: Record<string, unknown>, field: string]>([
    ["no destination", { bulk_export_destination_id: undefined }, "bulk_export_destination_id"],
    [
      "a destination that is not an id",
      { bulk_export_destination_id: "x" },
      "bulk_export_destination_id",
    ],
    ["no session", { session_id: undefined }, "session_id"],
    ["no start", { start_time: undefined }, "start_time"],
    ["a start that is not a time", { start_time: "yesterday" }, "start_time"],
    ["no end", { end_time: undefined }, "end_time"],
    ["null for the end", { end_time: null }, "end_time"],
    ["an end with an interval", { interval_hours: 1 }, "end_time"],
    ["an end at the start", { end_time: isoTime(daysAgo(5)) }, "end_time"],
    ["an end before the start", { end_time: isoTime(daysAgo(6)) }, "end_time"],
    ["a range of too many days", { ...later, start_time: "1999-01-01T00:00:00Z" }, "end_time"],
    ["an interval of no hours", { ...schedule, interval_hours: 0 }, "interval_hours"],
    ["an interval of 169 hours", { ...schedule, interval_hours: 169 }, "interval_hours"],
    ["an interval of half an hour", { ...schedule, interval_hours: 0.5 }, "interval_hours"],
    ["an interval as text", { ...schedule, interval_hours: "24" }, "interval_hours"],
    ["a filter with a mistake", { filter: "and(eq(run_type," }, "filter"],
    ["a filter of an unknown field", { filter: 'eq(nonsense, "x")' }, "filter"],
    ["an unknown version", { format_version: "v3" }, "format_version"],
    ["an unknown compression", { compression: "lzma" }, "compression"],
    ["an unknown format", { format: "CSV" }, "format"],
    ["no columns", { export_fields: [] }, "export_fields"],
    ["a column that cannot be exported", { export_fields: ["id", "serialized"] }, "export_fields"],
    ["every experiment", { all_experiments: true }, "all_experiments"],
  ])("is refused with the reason: %s", async ([, change, field], { various, expect }) => {
    const { workspace, body } = various;

    const response = await workspace.api("POST", "/bulk-exports", {
      ...body,
      start_time: isoTime(daysAgo(5)),
      ...change,
    });

    const { detail } = (await response.json()) as { detail: { loc: string[]; msg: string }[] };
    expect([response.status, detail[0]?.loc.slice(0, 2), detail[0]?.msg]).toEqual([
      422,
      ["body", field],
      expect.stringMatching(/./),
    ]);
  });

  test("is refused for resources that the workspace does not have", async ({ various, expect }) => {
    const { workspace, body } = various;
    const answers = [];
    for (const change of [{ session_id: MISSING_ID }, { bulk_export_destination_id: MISSING_ID }]) {
      const response = await workspace.api("POST", "/bulk-exports", { ...body, ...change });
      answers.push([response.status, await response.json()]);
    }
    expect(answers).toEqual([
      [404, { detail: "Session not found" }],
      [404, { detail: "Destination not found" }],
    ]);
  });
});

function typesOf(types: Record<string, string>, names: string[]): (string | undefined)[] {
  return names.map((name) => types[name]);
}

/** Splits the range by UTC day. */
function partitionsOf({ start_time, end_time }: { start_time: string; end_time: string }) {
  const firstDay = Date.parse(`${start_time.slice(0, 10)}T00:00:00Z`) * 1000;
  const midnights = [1, 2, 3].map((days) => isoTime(firstDay + days * DAY_US));
  const bounds = [start_time, ...midnights, end_time];
  return bounds.slice(1).map((end, index) => [bounds[index], end]);
}

/** Returns the fields that an export was created with. */
function creationOf(created: Record<string, unknown>) {
  const names = ["bulk_export_destination_id", "session_id", "start_time", "end_time"];
  return Object.fromEntries(names.map((name) => [name, created[name]]));
}
