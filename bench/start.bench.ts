import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import installPackage, { installedPackage } from "../test/package/support/installed-package.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { REPO_ROOT } from "./support/paths.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { startServerProcess } from "./support/server-process.ts";
import { startPeerServer } from "./support/start-peer.ts";
import type { StartedServer } from "./support/server-process.ts";
import { median } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const ROUNDS = SMALL ? 1 : 5;
const TIME_LIMIT_MS = 8 * 60_000;
const POLL_MS = 25;
const START_TIMEOUT_MS = 60_000;

/** Milliseconds of a new project, and of one that was started before. */
type Samples = { first: number[]; second: number[]; peer: number[]; peerAgain: number[] };

/**
 * Measures from an empty folder to the first token of a project's agent: writing the project and starting its server.
 * Then starts its server again, with what the first start has left. `npm install`, between writing and starting, is
 * left out on both sides, as it measures a network. The peer's own command would also fetch its template from the
 * network, so it is given the files of ours at no cost.
 */
export async function run(): Promise<BenchResult> {
  await installPackage();
  return inScratch("start", TIME_LIMIT_MS, async (scratch) => {
    const samples: Samples = { first: [], second: [], peer: [], peerAgain: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      forgetCompiledCode();
      const ours = join(scratch.path, `ours-${round}`);
      const peers = join(scratch.path, `peer-${round}`);
      samples.first.push(await timed(scratch, () => startNew(ours)));
      samples.second.push(await timed(scratch, () => startOurs(ours)));
      samples.peer.push(await timed(scratch, () => startNewPeer(peers)));
      samples.peerAgain.push(await timed(scratch, () => startPeer(peers)));
    }
    const [first, second] = [median(samples.first), median(samples.second)];
    const [peer, peerAgain] = [median(samples.peer), median(samples.peerAgain)];
    const ms = (value: number): string => `${Math.round(value)} ms`;
    console.log(`\nTo the first token of an agent, medians of ${ROUNDS} rounds:`);
    printTable(
      ["", "from no project", "with what another start has left"],
      [
        ["threadworks init, npm install, threadworks dev", ms(first), ms(second)],
        ["peer: create, npm install, its dev server", ms(peer), ms(peerAgain)],
      ],
    );
    return reportRatios({
      first_token_vs_peer: [first / peer, "<= 0.7"],
      first_token_again_vs_peer: [second / peerAgain, "<= 0.7"],
    });
  });
}

async function timed(scratch: Scratch, start: () => Promise<StartedServer>): Promise<number> {
  const startedAt = performance.now();
  const server = scratch.track(await start());
  await firstToken(server.url);
  const ms = performance.now() - startedAt;
  // The server is stopped here, as the next round would otherwise run beside it.
  await server.stop();
  return ms;
}

async function firstToken(apiUrl: string): Promise<void> {
  const client = new Client({ apiUrl, callerOptions: { maxRetries: 0 } });
  const messages = [{ role: "user", content: "What is the weather in Oslo?" }];
  const stream = client.runs.stream(null, "agent", {
    input: { messages },
    streamMode: "messages-tuple",
  });
  for await (const { event } of stream) {
    if (event === "messages") return;
  }
  throw new Error("The agent said nothing");
}

/**
 * Deletes the code that V8 compiled and cached at an earlier start, which is in the installation that all rounds
 * share.
 */
function forgetCompiledCode(): void {
  const cache = join(installedPackage().installed, "node_modules/.cache/threadworks");
  rmSync(cache, { recursive: true, force: true });
}

function commandOf(installed: string): string {
  return join(installed, "node_modules/threadworks/cli/bin.js");
}

function startNew(folder: string): Promise<StartedServer> {
  const { installed } = installedPackage();
  const bin = commandOf(installed);
  const { status, stderr } = spawnSync(process.execPath, [bin, "init", folder], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`threadworks init ended with ${status}: ${stderr}`);
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
  return startOurs(folder);
}

async function startOurs(folder: string): Promise<StartedServer> {
  const bin = commandOf(installedPackage().installed);
  const server = startServerProcess({ args: [bin, "dev", "--port", "0"], cwd: folder });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline && server.child.exitCode === null) {
    const url = /^ready {2}(\S+)$/m.exec(server.output())?.[1];
    if (url !== undefined) return { url, stop: server.stop };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  await server.stop();
  throw new Error(`threadworks dev did not become ready:\n${server.output()}`);
}

function startNewPeer(folder: string): Promise<StartedServer> {
  mkdirSync(folder);
  for (const name of ["agent.ts", "tsconfig.json"]) {
    cpSync(join(REPO_ROOT, "template", name), join(folder, name));
  }
  return startPeer(folder, { node_modules: join(installedPackage().installed, "node_modules") });
}

function startPeer(folder: string, links: Record<string, string> = {}): Promise<StartedServer> {
  return startPeerServer(folder, { graphs: { agent: "./agent.ts:agent" }, links });
}
