import { DOLLARS_A_GB_MONTH } from "../cost/bill.ts";
import type { Counts, Shares } from "../counting/counts.ts";
import { printTable } from "../support/table.ts";

/** The requests of one operation, and the price of a million. The bytes are the growth of databases. */
export type Measured = { counts: Counts; shares: Shares; dollars: number };

export type PerUnit = { thread: Measured; run: Measured };

/** Existing threads, each with its own runs. Their traces are spread over `projects` projects. */
export type Load = { threads: number; runsADay: number; deployments: number; projects: number };

const GB = 1e9;
const SECONDS_A_DAY = 86_400;
const DAYS_A_MONTH = 30;
/** Days for which traces are kept by default. */
const TRACE_DAYS = 14;
/** The load of the busiest second as a multiple of the mean. */
const PEAK = 3;

/** Limits as Cloudflare publishes them. */
const OBJECT_REQUESTS_A_SECOND = 1_000;
const OBJECT_BYTES = 10 * GB;
const D1_BYTES = 10 * GB;
const D1_REQUESTS_A_SECOND = 1_000;

/** The bindings of the objects that a deployment has, one of each. */
const DEPLOYMENT_OBJECTS = ["THREAD_INDEX", "ASSISTANT_CACHE", "TRACE_RECORDER"];

const TRACE_CLASSES = ["RunShardObject", "RunIndexObject"];

function bytes({ shares }: Measured, classes: string[]): number {
  return classes.reduce((sum, name) => sum + (shares.bytes[name] ?? 0), 0);
}

function calls({ shares }: Measured, binding: string): number {
  return shares.calls[binding] ?? 0;
}

export type Limit = {
  name: string;
  title: string;
  /** What `unitsAt` counts. */
  unit: string;
  unitsAt: (each: PerUnit) => number;
  pastIt: string;
};

const runsADayAt = (requestsASecond: number, requestsOfARun: number): number =>
  (requestsASecond / requestsOfARun / PEAK) * SECONDS_A_DAY;

export const LIMITS: Limit[] = [
  {
    name: "threads_in_one_d1",
    title: "D1: 10 GB of index rows",
    unit: "threads of an installation",
    unitsAt: ({ thread, run }) => D1_BYTES / (bytes(thread, ["D1"]) + bytes(run, ["D1"])),
    pastIt: "another database for some workspaces (THREAD_DATABASES)",
  },
  {
    name: "runs_a_day_by_d1_requests",
    title: "D1: one writer, 1,000 requests a second",
    unit: "runs a day of an installation",
    unitsAt: ({ run }) => runsADayAt(D1_REQUESTS_A_SECOND, run.counts.d1Requests),
    pastIt:
      "rows of the index are combined by deployment, so the figure grows with load; then another database for some workspaces",
  },
  {
    name: "runs_a_day_of_a_deployment",
    title: "an object of a deployment (index, assistants, recorder): 1,000 requests a second",
    unit: "runs a day of a deployment",
    unitsAt: ({ run }) => {
      const ofRun = DEPLOYMENT_OBJECTS.map((binding) => calls(run, binding));
      return runsADayAt(OBJECT_REQUESTS_A_SECOND, Math.max(...ofRun));
    },
    pastIt:
      "the index follows later, assistants are read from D1, traces that were refused three times are lost; no run waits",
  },
  {
    name: "runs_a_day_of_a_project",
    title: "shard: 1,000 requests a second",
    unit: "traced runs a day of a project",
    unitsAt: ({ run }) => runsADayAt(OBJECT_REQUESTS_A_SECOND, calls(run, "RUN_SHARDS")),
    pastIt: "more buckets of the project's day",
  },
  {
    name: "runs_in_one_shard",
    title: "shard: 10 GB",
    unit: "traced runs of a project's day and bucket",
    unitsAt: ({ run }) => OBJECT_BYTES / bytes(run, ["RunShardObject"]),
    pastIt: "more buckets of the project's day",
  },
  {
    name: "runs_in_one_thread",
    title: "thread: 10 GB",
    unit: "runs of a thread",
    unitsAt: ({ run }) => OBJECT_BYTES / bytes(run, ["ThreadObject"]),
    pastIt: "prune the thread, or give it a time to live",
  },
];

export function printBill(loads: Load[], { thread, run }: PerUnit): void {
  console.log(
    `\nin US dollars a month; traces are kept for ${TRACE_DAYS} days, threads and their runs' data for ${DAYS_A_MONTH}`,
  );
  printTable(
    [
      "threads",
      "runs a day",
      "objects",
      "GB of objects",
      "GB of D1",
      "operations",
      "storage",
      "all",
    ],
    loads.map(({ threads, runsADay, projects, deployments }) => {
      const ofThreads = bytes(thread, ["ThreadObject"]) * threads;
      const ofRuns = bytes(run, ["ThreadObject"]) * runsADay * DAYS_A_MONTH;
      const ofTraces = bytes(run, TRACE_CLASSES) * runsADay * TRACE_DAYS;
      const inObjects = (ofThreads + ofRuns + ofTraces) / GB;
      const inD1 = ((bytes(thread, ["D1"]) + bytes(run, ["D1"])) * threads) / GB;
      const operations = (run.dollars * runsADay * DAYS_A_MONTH + thread.dollars * threads) / 1e6;
      const storage = inObjects * DOLLARS_A_GB_MONTH.objects + inD1 * DOLLARS_A_GB_MONTH.d1;
      const objects = threads + projects * TRACE_DAYS + deployments * DEPLOYMENT_OBJECTS.length;
      return [
        ...[threads, runsADay, objects].map((count) => count.toLocaleString("en")),
        ...[inObjects, inD1, operations, storage, operations + storage].map(short),
      ];
    }),
  );
}

export function printLimits(each: PerUnit): void {
  console.log(
    `\nlimits as Cloudflare publishes them; the busiest second has ${PEAK} times the mean`,
  );
  const rows = LIMITS.map(({ title, unit, unitsAt, pastIt }) => {
    const units = unitsAt(each);
    return [title, units.toLocaleString("en", { maximumSignificantDigits: 2 }), unit, pastIt];
  });
  for (const [title, units, unit, pastIt] of rows) {
    console.log(`${title}: met at ${units} ${unit}. Then: ${pastIt}.`);
  }
  console.log();
}

function short(amount: number): string {
  return amount.toLocaleString("en", { maximumSignificantDigits: 3 });
}
