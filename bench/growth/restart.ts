import { join } from "node:path";
import { nextFreePort } from "../../cli/platform/ports.ts";
import { REPO_ROOT } from "../support/paths.ts";
import type { Scratch } from "../support/scratch.ts";
import { startServerProcess, untilAnswering } from "../support/server-process.ts";
import { median } from "../support/statistics.ts";
import { printTable } from "../support/table.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const RESTARTS = process.env["BENCH_SMALL"] ? 1 : 7;

/** The first start also builds everything, so it takes longest. */
const START_TIMEOUT_MS = 180_000;
const HOST = "127.0.0.1";
const FIRST_PORT = 20_000;

/**
 * Starts the project of `npm start` repeatedly on one state directory, and measures from the start of the process to
 * the first answer. The first start, which builds, is printed but does not count.
 */
export async function measureRestart(scratch: Scratch): Promise<{ restart_ms: number }> {
  const stateDir = join(scratch.path, "restart");
  const first = await startOnce(scratch, stateDir);
  const restarts: number[] = [];
  while (restarts.length < RESTARTS) restarts.push(await startOnce(scratch, stateDir));
  console.log("\nms from the start of the process to the first answer");
  const times = [first, Math.min(...restarts), median(restarts), Math.max(...restarts)];
  printTable(
    ["", "first", "fastest", "median", "slowest"],
    [["npm start", ...times.map((ms) => ms.toFixed(0))]],
  );
  return { restart_ms: Math.round(median(restarts)) };
}

/** Starts the server once, and returns the milliseconds to the first answer. */
async function startOnce(scratch: Scratch, stateDir: string): Promise<number> {
  const port = await nextFreePort(HOST, FIRST_PORT);
  const begun = performance.now();
  const args = ["--config", join(REPO_ROOT, "langgraph.json"), "--state", stateDir];
  const server = scratch.track(
    startServerProcess({
      args: [join(REPO_ROOT, "scripts/start.mjs"), "--port", String(port), ...args],
      cwd: REPO_ROOT,
    }),
  );
  await untilAnswering(server, `http://${HOST}:${port}`, START_TIMEOUT_MS);
  const ms = performance.now() - begun;
  await server.stop();
  return ms;
}
