import { join } from "node:path";
import { buildTarball } from "../cli/project/tarball.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { deployAgent } from "./support/deploy-agent.ts";
import { BENCH_GRAPHS } from "./support/paths.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { ServerSide } from "./support/server-side.ts";
import { startPeerServer } from "./support/start-peer.ts";
import { median } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { startTracingPlatform, type TracingPlatform } from "./support/tracing-platform.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const ROUNDS = SMALL ? 1 : 7;
const TIME_LIMIT_MS = 6 * 60_000;
/** More frequent polling would take CPU time from the server that is measured. */
const POLL_MS = 25;

type Samples = { deploy: number[]; build: number[]; peer: number[] };

/**
 * Measures the time from nothing to the first answer of a run, for the same project: a deployment on a running
 * installation, from its first request on, and the peer's dev server, from the start of its process on.
 */
export async function run(): Promise<BenchResult> {
  return inScratch("deploy", TIME_LIMIT_MS, async (scratch) => {
    const platform = scratch.track(await startTracingPlatform(join(scratch.path, "platform")));
    const samples: Samples = { deploy: [], build: [], peer: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const built = await timed(() => buildTarball({ configPath: BENCH_GRAPHS }));
      samples.build.push(built.ms);
      const { bytes } = built.value;
      samples.deploy.push((await timed(() => deployAndRun(platform, `round-${round}`, bytes))).ms);
      const peerDir = join(scratch.path, `peer-${round}`);
      samples.peer.push((await timed(() => startPeerAndRun(scratch, peerDir))).ms);
    }
    return report(samples);
  });
}

async function deployAndRun(
  platform: TracingPlatform,
  name: string,
  tarball: Uint8Array,
): Promise<void> {
  const url = await deployAgent(platform, name, tarball, POLL_MS);
  const server = { url, stop: async () => {} };
  await new ServerSide("platform", server, async () => {}, platform.apiKey).createThreadAndWait();
}

async function startPeerAndRun(scratch: Scratch, stateDir: string): Promise<void> {
  const server = scratch.track(await startPeerServer(stateDir));
  await new ServerSide("peer", server, async () => {}).createThreadAndWait();
  // The stop is not measured, but is awaited before the next measurement, which it would otherwise overlap.
  ended.push(server.stop());
}

const ended: Promise<void>[] = [];

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  await Promise.all(ended.splice(0));
  const startedAt = performance.now();
  const value = await work();
  return { ms: performance.now() - startedAt, value };
}

function report({ deploy, build, peer }: Samples): BenchResult {
  const [deployMs, buildMs, peerMs] = [median(deploy), median(build), median(peer)];
  const ms = (value: number): string => `${Math.round(value)} ms`;
  console.log(`\nTo the first answer of a run, medians of ${ROUNDS} rounds:`);
  printTable(
    ["", "time"],
    [
      ["deployment, from its first request", ms(deployMs)],
      ["deployment, from the project's files", ms(buildMs + deployMs)],
      ["peer's dev server, from its start", ms(peerMs)],
    ],
  );
  return reportRatios({
    first_run_speedup_vs_peer_cold_start: [peerMs / deployMs, ">= 8"],
    first_run_speedup_with_build: [peerMs / (buildMs + deployMs), ">= 2"],
  });
}
