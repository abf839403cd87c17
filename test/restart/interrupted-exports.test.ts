import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listKeys, readObject } from "../support/bucket-files.ts";
import {
  completedExport,
  createDestination,
  createExport,
  endedExport,
  exportFolder,
  type ExportRunJson,
  readExport,
  readExportRuns,
} from "../support/bulk-exports.ts";
import { DAY_US, daysAgo, isoTime, plainRuns, runAt } from "../support/export-data.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { ask, type Caller } from "../support/stored-runs.ts";
import { PlatformProcess } from "./support/platform-process.ts";
import { chooseSeed, Random } from "./support/random.ts";
import { until } from "./support/until.ts";

const KILLS = 20;
const DAYS = 4;
const RUNS_PER_DAY = 105;
const ROWS_PER_FILE = 7;
const LARGE_RUNS = 8;
const MB = 1024 * 1024;
const EXPORT_TIMEOUT_MS = 300_000;

const seed = chooseSeed();
const random = new Random(seed);
let platform: PlatformProcess;

beforeAll(async () => {
  const limits = {
    rows_per_file: ROWS_PER_FILE,
    rows_per_group: 3,
    part_bytes: 5 * MB,
    // A request must not outlive a lease, and may take long on a busy machine.
    lease_seconds: 3,
    // Kills cost no attempt, however many of them interrupt the same file.
    interruptions: 2 * KILLS,
    retry_delay_seconds: 1,
  };
  platform = await PlatformProcess.start({ vars: { EXPORT_LIMITS: JSON.stringify(limits) } });
});
afterAll(() => platform.dispose());

const caller: Caller = {
  api: (method, path, body) =>
    fetch(`${platform.url}/api/v1${path}`, {
      method,
      headers: { "x-api-key": platform.apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
};

test(`an export that is killed writes the same files (RESTART_SEED=${seed})`, async () => {
  const from = daysAgo(DAYS + 1);
  const range = { start_time: isoTime(from), end_time: isoTime(from + DAYS * DAY_US) };
  await storeDays(from);
  const [project] = await ask<{ id: string }[]>(caller, "GET", "/sessions?name=hammered");
  const body = {
    ...range,
    session_id: project?.id,
    compression: "none",
    format_version: "v2_beta",
  };
  const bulk_export_destination_id = await createDestination(caller, platform.s3);
  const calm = await completedExport(caller, { ...body, bulk_export_destination_id });

  const proxy = await startFaultProxy(platform.s3);
  const through = await createDestination(caller, { ...platform.s3, endpoint: proxy.endpoint });
  // The export is so slow that all kills interrupt it, in every part of its work.
  const pauses = Array.from({ length: 997 }, () => random.between(0, 200));
  proxy.follow(({ n }) => ({ kind: "hold", until: sleep(pauses[n % pauses.length]) }));
  const { id } = await createExport(caller, { ...body, bulk_export_destination_id: through });
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(random.between(0, 900));
    // A kill ends either the runtime alone or everything.
    await (kill % 5 === 4 ? platform.restart() : platform.crash());
  }
  const isUnderWay = async () => rowsOf(await readExportRuns(caller, id)) > 0;
  await until(isUnderWay, EXPORT_TIMEOUT_MS, "a file of the export that is killed");
  expect(await readExport(caller, id)).toMatchObject({ status: "RUNNING" });
  proxy.follow(() => undefined);
  const killed = await endedExport(caller, id, EXPORT_TIMEOUT_MS);
  await proxy.close();

  expect(killed.ended.status).toBe("COMPLETED");
  expect(rowsOf(killed.runs)).toBe(DAYS * RUNS_PER_DAY + LARGE_RUNS);
  expect(killed.runs.map(withoutIds)).toEqual(calm.runs.map(withoutIds));
  expect(await filesOf(id)).toEqual(await filesOf(calm.ended.id));
});

/** Stores plain runs on each day, and on the last day also some whose files take several parts. */
async function storeDays(from: number): Promise<void> {
  for (let day = 0; day < DAYS; day += 1) {
    const plain = plainRuns("hammered", {
      from: from + day * DAY_US,
      count: RUNS_PER_DAY,
      everyUs: DAY_US / RUNS_PER_DAY / 2,
    });
    await storeRuns(plain);
  }
  const last = from + DAYS * DAY_US - LARGE_RUNS;
  for (let index = 0; index < LARGE_RUNS; index += 1) {
    const text = `${index} `.repeat(MB);
    await storeRuns([runAt("hammered", last + index, { inputs: { text } })]);
  }
}

async function storeRuns(post: object[]): Promise<void> {
  const response = await caller.api("POST", "/runs/batch", { post });
  expect(response.status).toBe(202);
  await response.arrayBuffer();
}

function rowsOf(runs: readonly ExportRunJson[]): number {
  return runs.reduce((sum, { metadata }) => sum + metadata.result.rows_written, 0);
}

/** Returns the properties that two exports of the same data must have in common. */
function withoutIds({
  status,
  start_time,
  end_time,
  retry_number,
  errors,
  metadata,
}: ExportRunJson) {
  const { rows_written, exported_files, latest_cursor, pending_upload } = metadata.result;
  const names = exported_files.map((file) => file.replace(/export_id=[^/]+/, ""));
  return {
    status,
    start_time,
    end_time,
    retry_number,
    errors,
    rows_written,
    names,
    latest_cursor,
    pending_upload,
  };
}

/** Returns the bytes of an export's objects, by their names without the export's id. */
async function filesOf(exportId: string): Promise<Map<string, string>> {
  const folder = exportFolder(exportId);
  const files = new Map<string, string>();
  for (const key of await listKeys(platform.s3, folder)) {
    const text = Buffer.from(await readObject(platform.s3, key)).toString("latin1");
    // Only the manifests contain the ids of the export and of its runs.
    const same = key.endsWith(".json")
      ? text.replaceAll(/"export(?:_run)?_id": "[^"]+"/g, "")
      : text;
    files.set(key.slice(folder.length), same);
  }
  return files;
}
