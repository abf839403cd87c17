import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import installPackage, { installedPackage } from "../test/package/support/installed-package.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { REPO_ROOT } from "./support/paths.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { startServerProcess } from "./support/server-process.ts";
import { startPeerServer } from "./support/start-peer.ts";
import type { StartedServer } from "./support/start-platform.ts";
import { median, roundTo } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";

/** Set: a short run that shows that the benchmark works, and measures nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const ROUNDS = SMALL ? 1 : 5;
const TIME_LIMIT_MS = 8 * 60_000;
const POLL_MS = 25;
const START_TIMEOUT_MS = 60_000;

/**
 * From no project to the first token of its agent: writing the project and starting its server. What is between the two,
 * `npm install`, is left out on both sides, as it measures a network. The peer's own command would fetch its template
 * from the network, too, so it is given the files of ours, which counts for nothing.
 */
export async function run(): Promise<BenchResult> {
  await installPackage();
  return inScratch("start", TIME_LIMIT_MS, async (scratch) => {
    const samples = { ours: [] as number[], peer: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      samples.ours.push(await timed(scratch, join(scratch.path, `ours-${round}`), startOurs));
      samples.peer.push(await timed(scratch, join(scratch.path, `peer-${round}`), startPeer));
    }
    const [ours, peer] = [median(samples.ours), median(samples.peer)];
    console.log(`\nFrom no project to its agent's first token, medians of ${ROUNDS} rounds:`);
    printTable(
      ["", "commands", "time"],
      [
        ["threadworks init, npm install, threadworks dev", "3", `${Math.round(ours)} ms`],
        ["peer: create, npm install, its dev server", "3", `${Math.round(peer)} ms`],
      ],
    );
    return { ratios: { first_token_vs_peer: roundTo(ours / peer, 2) } };
  });
}

type Start = (folder: string) => Promise<StartedServer>;

async function timed(scratch: Scratch, folder: string, start: Start): Promise<number> {
  const startedAt = performance.now();
  const server = scratch.track(await start(folder));
  await firstToken(server.url);
  const ms = performance.now() - startedAt;
  // The next one would run beside it.
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

async function startOurs(folder: string): Promise<StartedServer> {
  const { installed } = installedPackage();
  const bin = join(installed, "node_modules/threadworks/cli/bin.js");
  const { status, stderr } = spawnSync(process.execPath, [bin, "init", folder], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`threadworks init ended with ${status}: ${stderr}`);
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
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

async function startPeer(folder: string): Promise<StartedServer> {
  mkdirSync(folder);
  for (const name of ["agent.ts", "tsconfig.json"]) {
    cpSync(join(REPO_ROOT, "template", name), join(folder, name));
  }
  return startPeerServer(folder, {
    graphs: { agent: "./agent.ts:agent" },
    links: { node_modules: join(installedPackage().installed, "node_modules") },
  });
}
