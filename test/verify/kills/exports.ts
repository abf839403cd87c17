import { setTimeout as sleep } from "node:timers/promises";
import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import { until } from "../../restart/support/until.ts";
import { destinationBody } from "../../support/destinations.ts";
import { DAY_US, daysAgo, isoTime, plainRuns } from "../../support/export-data.ts";
import { acknowledgedBy, callTo, type Workload } from "./workload.ts";

const PROJECT = "exported";
const DAYS = 3;
const RUNS = 120;
const PAUSE_MS = 2000;
const END_TIMEOUT_MS = 300_000;
const ENDED = /^(COMPLETED|FAILED|CANCELLED|TIMEDOUT)$/;

type ExportRun = { metadata: { result: { rows_written: number } } };

/** Exports the same runs repeatedly: each acknowledged export ends with all of their rows. */
export async function exports(platform: PlatformProcess): Promise<Workload> {
  const call = callTo(platform);
  const acknowledged: string[] = [];
  const from = daysAgo(DAYS + 1);
  const post = plainRuns(PROJECT, { from, count: RUNS, everyUs: (DAYS * DAY_US) / RUNS });
  await call("POST", "/api/v1/runs/batch", { post });
  const [project] = (await call("GET", `/api/v1/sessions?name=${PROJECT}`)) as { id: string }[];
  const { endpoint: url, ...bucket } = platform.s3;
  const destination = (await call(
    "POST",
    "/api/v1/bulk-exports/destinations",
    destinationBody({ url, ...bucket }),
  )) as { id: string };
  const body = {
    bulk_export_destination_id: destination.id,
    session_id: project?.id,
    start_time: isoTime(from),
    end_time: isoTime(from + DAYS * DAY_US),
  };

  async function hasEnded(id: string): Promise<string | false> {
    const { status } = (await call("GET", `/api/v1/bulk-exports/${id}`)) as { status: string };
    return ENDED.test(status) && status;
  }

  return {
    name: "exports",
    acknowledged: () => acknowledged.length,
    run: async (signal) => {
      while (!signal.aborted) {
        const created = await acknowledgedBy(
          () => call("POST", "/api/v1/bulk-exports", body),
          signal,
        );
        if (created !== null) acknowledged.push((created as { id: string }).id);
        await sleep(PAUSE_MS);
      }
    },
    check: async (problems) => {
      for (const id of acknowledged) {
        const status = await until(() => hasEnded(id), END_TIMEOUT_MS, `the end of export ${id}`);
        const runs = (await call("GET", `/api/v1/bulk-exports/${id}/runs`)) as ExportRun[];
        const rows = runs.reduce((sum, { metadata }) => sum + metadata.result.rows_written, 0);
        if (status === "COMPLETED" && rows === RUNS) continue;
        problems.add("export", `export ${id} is ${status} with ${rows} of ${RUNS} rows`);
      }
    },
  };
}
