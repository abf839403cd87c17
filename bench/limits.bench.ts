import { join } from "node:path";
import { createKey, ensureLocalWorkspace } from "../cli/database/identity.ts";
import { withDatabase } from "../cli/database/open-database.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { BENCH_GRAPHS, REPO_ROOT } from "./support/paths.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { startPlatformServer } from "./support/start-platform.ts";
import { median } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { measureThroughput } from "./support/throughput.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 6 * 60_000;
const WARM_UP_ROUNDS = SMALL ? 1 : 2;
const ROUNDS = SMALL ? 1 : 24;
const WINDOW_MS = SMALL ? 500 : 1_000;
const RAMP_MS = SMALL ? 100 : 500;
const CONCURRENCY = 16;

const WORKSPACE_ID = "5b0f0c5e-6c57-4a3b-9a52-0d9f0b7a3c11";
const PROJECT = "bench";
const MAX_KEYS = 100;
/** Of the 100 requests a second that a key is allowed, how many it is to use: busy, and never refused. */
const REQUESTS_PER_KEY: Record<RequestName, number> = { list: 50, query: 25 };
/** Minimum number of keys, in case the first rounds met a noisy moment and later ones are faster. */
const MIN_KEYS: Record<RequestName, number> = { list: 4, query: 20 };

/** The default limit of queries, 15 in 10 seconds, would end a benchmark; this one is counted in the same way. */
const OVERRIDES = { [WORKSPACE_ID]: { "runs-query": { count: 100, seconds: 1 } } };

type Side = {
  /** Sends a request with the next of `keys` API keys. */
  list: (keys: number) => Promise<void>;
  query: (keys: number) => Promise<void>;
};

type RequestName = keyof Side;

export async function run(): Promise<BenchResult> {
  return inScratch("limits", TIME_LIMIT_MS, async (scratch) => {
    const sides = {
      limited: await startSide(scratch, "limited", {
        RATE_LIMITS: "on",
        RATE_LIMIT_OVERRIDES: JSON.stringify(OVERRIDES),
      }),
      unlimited: await startSide(scratch, "unlimited", { RATE_LIMITS: "off" }),
    };
    return report({
      list: await measure(sides, "list"),
      query: await measure(sides, "query"),
    });
  });
}

type Sides = { limited: Side; unlimited: Side };
type Measured = { keys: number; limited: number[]; unlimited: number[] };

async function measure(sides: Sides, request: RequestName): Promise<Measured> {
  const throughput = (name: keyof Sides, keys: number): Promise<number> => {
    const options = { concurrency: CONCURRENCY, rampMs: RAMP_MS, windowMs: WINDOW_MS };
    return measureThroughput(() => sides[name][request](keys), options);
  };
  let fastest = 0;
  for (let round = 0; round <= WARM_UP_ROUNDS; round += 1) {
    fastest = Math.max(fastest, await throughput("unlimited", MAX_KEYS));
    // This also keeps the connections from idling until the server's keep-alive time-out.
    await throughput("limited", MAX_KEYS);
  }
  const enough = Math.max(MIN_KEYS[request], Math.ceil(fastest / REQUESTS_PER_KEY[request]));
  const keys = Math.min(MAX_KEYS, enough);
  const measured: Measured = { keys, limited: [], unlimited: [] };
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    // The order alternates, so that a noisy moment affects both.
    const names = ["limited", "unlimited"] as const;
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const perSecond = await throughput(name, keys);
      if (round >= WARM_UP_ROUNDS) measured[name].push(perSecond);
    }
  }
  return measured;
}

async function startSide(
  scratch: Scratch,
  name: keyof Sides,
  vars: Record<string, string>,
): Promise<Side> {
  const stateDir = join(scratch.path, name);
  const configPath = join(BENCH_GRAPHS, "langgraph.json");
  const server = scratch.track(await startPlatformServer({ configPath, stateDir, vars }));
  const keys = await makeKeys(stateDir);
  const project = await makeProject(server.url, keys[0] ?? "");
  let requests = 0;
  const send = async (count: number, path: string, init: RequestInit): Promise<void> => {
    const apiKey = keys[requests % count] ?? "";
    requests += 1;
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const response = await fetch(`${server.url}/api/v1${path}`, { ...init, headers });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${name} gave ${response.status}: ${text}`);
    const isLimited = response.headers.has("ratelimit");
    if (isLimited !== (name === "limited")) throw new Error(`${name}: limited is ${isLimited}`);
  };
  const body = JSON.stringify({ session: [project], limit: 1 });
  return {
    list: (count) => send(count, "/sessions?limit=1", {}),
    query: (count) => send(count, "/runs/query", { method: "POST", body }),
  };
}

function makeKeys(stateDir: string): Promise<string[]> {
  return withDatabase(REPO_ROOT, { kind: "local", stateDir }, async (database) => {
    await ensureLocalWorkspace(database, { workspaceId: WORKSPACE_ID, apiKey: "" });
    const keys: string[] = [];
    for (let count = 0; count < MAX_KEYS; count += 1) {
      const { key } = await createKey(database, { workspaceId: WORKSPACE_ID, name: "bench" });
      keys.push(String(key));
    }
    return keys;
  });
}

/** Creates a project with one run in it, and returns its id. */
async function makeProject(url: string, apiKey: string): Promise<string> {
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const [id, start_time] = [crypto.randomUUID(), new Date().toISOString()];
  const run = { id, start_time, name: "run", run_type: "chain", session_name: PROJECT, inputs: {} };
  const posted = await fetch(`${url}/api/v1/runs`, {
    method: "POST",
    headers,
    body: JSON.stringify(run),
  });
  if (posted.status !== 202) throw new Error(`A run gave ${posted.status}: ${await posted.text()}`);
  const found = await fetch(`${url}/api/v1/sessions?name=${PROJECT}`, { headers });
  const [project] = (await found.json()) as { id: string }[];
  if (project === undefined) throw new Error("The run has made no project");
  return project.id;
}

function report(measured: Record<RequestName, Measured>): BenchResult {
  const titles: Record<RequestName, string> = {
    list: "GET /sessions, leased: 1000 in 10 s",
    query: "POST /runs/query, exact: 100 in 1 s",
  };
  const names = ["list", "query"] as const;
  console.log(
    `\n${CONCURRENCY} requests at a time, with the given number of keys in turn; requests/s`,
  );
  printTable(
    ["", "keys", "limited", "unlimited"],
    names.map((name) => {
      const { keys, limited, unlimited } = measured[name];
      const perSecond = [limited, unlimited].map((values) => median(values).toFixed(0));
      return [titles[name], String(keys)].concat(perSecond);
    }),
  );
  const ratioOf = ({ limited, unlimited }: Measured): number => median(limited) / median(unlimited);
  return reportRatios({
    leased_vs_unlimited: [ratioOf(measured.list), ">= 0.9"],
    exact_vs_unlimited: [ratioOf(measured.query), ">= 0.6"],
  });
}
