import { join } from "node:path";
import { createKey, ensureLocalWorkspace } from "../cli/database/identity.ts";
import { withDatabase } from "../cli/database/open-database.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { BENCH_GRAPHS, REPO_ROOT } from "./support/paths.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { startPlatformServer } from "./support/start-platform.ts";
import { median, roundTo } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { measureThroughput } from "./support/throughput.ts";

/** Set: a short run that shows that the benchmark works, and measures nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 6 * 60_000;
const WARM_UP_ROUNDS = SMALL ? 0 : 2;
const ROUNDS = SMALL ? 1 : 9;
const WINDOW_MS = SMALL ? 300 : 3_000;
const RAMP_MS = SMALL ? 100 : 500;
const CONCURRENCY = 16;

const WORKSPACE_ID = "5b0f0c5e-6c57-4a3b-9a52-0d9f0b7a3c11";
/** So many that none of them comes to its limit. */
const KEYS = 60;
/** A request that does little: it reads a row or two of D1. */
const PATH = "/api/v1/sessions?limit=1";
/** As much as the general limit of 1000 in 10 seconds, and so low that every request asks. */
const EXACT = { [WORKSPACE_ID]: { default: { count: 100, seconds: 1 } } };

const VARS = {
  unlimited: { RATE_LIMITS: "off" },
  leased: { RATE_LIMITS: "on" },
  exact: { RATE_LIMITS: "on", RATE_LIMIT_OVERRIDES: JSON.stringify(EXACT) },
};

type SideName = keyof typeof VARS;

const SIDES: readonly SideName[] = ["unlimited", "leased", "exact"];

/** Asks once more, each time with another key. */
type Side = () => Promise<void>;

export async function run(): Promise<BenchResult> {
  return inScratch("limits", TIME_LIMIT_MS, async (scratch) => {
    const sides: Record<SideName, Side> = {
      unlimited: await startSide(scratch, "unlimited"),
      leased: await startSide(scratch, "leased"),
      exact: await startSide(scratch, "exact"),
    };
    const perSecond: Record<SideName, number[]> = { unlimited: [], leased: [], exact: [] };
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
      // In turns that begin with another one each time, so that a noisy moment meets all.
      for (let turn = 0; turn < SIDES.length; turn += 1) {
        const name = SIDES[(round + turn) % SIDES.length] ?? "unlimited";
        const options = { concurrency: CONCURRENCY, rampMs: RAMP_MS, windowMs: WINDOW_MS };
        const measured = await measureThroughput(sides[name], options);
        if (round >= WARM_UP_ROUNDS) perSecond[name].push(measured);
      }
    }
    return report(perSecond);
  });
}

async function startSide(scratch: Scratch, name: SideName): Promise<Side> {
  const stateDir = join(scratch.path, name);
  const configPath = join(BENCH_GRAPHS, "langgraph.json");
  const server = scratch.track(
    await startPlatformServer({ configPath, stateDir, vars: VARS[name] }),
  );
  const keys = await withDatabase(REPO_ROOT, { kind: "local", stateDir }, async (database) => {
    await ensureLocalWorkspace(database, { workspaceId: WORKSPACE_ID, apiKey: "" });
    const made: string[] = [];
    for (let count = 0; count < KEYS; count += 1) {
      const { key } = await createKey(database, { workspaceId: WORKSPACE_ID, name: "bench" });
      made.push(String(key));
    }
    return made;
  });
  let requests = 0;
  return async () => {
    const apiKey = keys[requests % keys.length] ?? "";
    requests += 1;
    const response = await fetch(`${server.url}${PATH}`, { headers: { "x-api-key": apiKey } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${name} gave ${response.status}: ${text}`);
    const isLimited = response.headers.has("ratelimit");
    if (isLimited !== (name !== "unlimited")) throw new Error(`${name}: limited is ${isLimited}`);
  };
}

function report(perSecond: Record<SideName, number[]>): BenchResult {
  console.log(`\nGET ${PATH}, ${CONCURRENCY} at a time, with ${KEYS} keys in turn`);
  const rows = {
    unlimited: "without limits",
    leased: "leased: 1000 / 10 s",
    exact: "exact: 100 / 1 s",
  };
  printTable(
    ["", "requests/s"],
    SIDES.map((name) => [rows[name], median(perSecond[name]).toFixed(0)]),
  );
  const ratioOf = (name: SideName): number =>
    median(perSecond[name].map((value, round) => value / (perSecond.unlimited[round] ?? value)));
  const ratios = {
    leased_vs_unlimited: roundTo(ratioOf("leased"), 3),
    exact_vs_unlimited: roundTo(ratioOf("exact"), 3),
  };
  console.log();
  printTable(
    ["ratio", "measured", "aim"],
    [
      ["leased_vs_unlimited", String(ratios.leased_vs_unlimited), ">= 0.9"],
      ["exact_vs_unlimited", String(ratios.exact_vs_unlimited), ">= 0.6"],
    ],
  );
  console.log();
  return { ratios };
}
