import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import installPackage, { installedPackage } from "../test/package/support/installed-package.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { REPO_ROOT } from "./support/paths.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { startServerProcess } from "./support/server-process.ts";
import { startPeerServer } from "./support/start-peer.ts";
import { installPeer, makePeerProject, startPeerCommand } from "./support/start-peer-command.ts";
import type { StartedServer } from "./support/server-process.ts";
import { median } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const ROUNDS = SMALL ? 1 : 5;
const TIME_LIMIT_MS = 8 * 60_000;
const POLL_MS = 25;
const START_TIMEOUT_MS = 60_000;

/** Milliseconds to the first token: of a new project, and of the same project when it is started again. */
type Samples = { first: number[]; again: number[] };

/** A way to make and start a project. */
type Starter = {
  name: string;
  startNew: (folder: string) => Promise<StartedServer>;
  startAgain: (folder: string) => Promise<StartedServer>;
};

/**
 * Measures from an empty folder to the first token of a project's agent: writing the project and starting its server.
 * Then starts its server again, with what the first start has left. Both sides are started by the command that a user
 * types, which watches the project's files; the server that the peer's command starts is also measured by itself.
 * `npm install`, between writing and starting, is left out on all sides, as it measures a network. The peer's own
 * command would also fetch its template from the network, so it is given the files of ours at no cost.
 */
export async function run(): Promise<BenchResult> {
  await installPackage();
  const starters = [OURS, peerCommand(await installPeer()), PEER_SERVER];
  return inScratch("start", TIME_LIMIT_MS, async (scratch) => {
    const samples = new Map(starters.map((starter): [Starter, Samples] => [starter, noSamples()]));
    for (let round = 0; round < ROUNDS; round += 1) {
      forgetCompiledCode();
      for (const [index, [starter, { first, again }]] of [...samples].entries()) {
        const folder = join(scratch.path, `${index}-${round}`);
        first.push(await timed(scratch, () => starter.startNew(folder)));
        again.push(await timed(scratch, () => starter.startAgain(folder)));
      }
    }
    const medians = [...samples].map(([{ name }, { first, again }]) => ({
      name,
      first: median(first),
      again: median(again),
    }));
    const ms = (value: number): string => `${Math.round(value)} ms`;
    console.log(`\nTo the first token of an agent, medians of ${ROUNDS} rounds:`);
    printTable(
      ["", "from no project", "with what another start has left"],
      medians.map(({ name, first, again }) => [name, ms(first), ms(again)]),
    );
    const [ours, peer, server] = medians;
    if (ours === undefined || peer === undefined || server === undefined) {
      throw new Error("A side is missing");
    }
    return reportRatios({
      first_token_vs_peer: [ours.first / peer.first, "<= 0.7"],
      first_token_again_vs_peer: [ours.again / peer.again, "<= 0.7"],
      first_token_vs_peer_server_alone: [ours.first / server.first],
      first_token_again_vs_peer_server_alone: [ours.again / server.again],
    });
  });
}

function noSamples(): Samples {
  return { first: [], again: [] };
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

const OURS: Starter = {
  name: "threadworks init, npm install, threadworks dev",
  startNew: (folder) => {
    const { installed } = installedPackage();
    const bin = commandOf(installed);
    const { status, stderr } = spawnSync(process.execPath, [bin, "init", folder], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`threadworks init ended with ${status}: ${stderr}`);
    symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
    return startOurs(folder);
  },
  startAgain: startOurs,
};

function peerCommand(installed: string): Starter {
  return {
    name: "peer: create, npm install, langgraphjs dev",
    startNew: (folder) => {
      makePeerProject(folder, { installed, files: templateFiles() });
      return startPeerCommand(folder);
    },
    startAgain: startPeerCommand,
  };
}

const PEER_SERVER: Starter = {
  name: "the peer's server alone, without its command",
  startNew: (folder) => {
    mkdirSync(folder);
    for (const [name, text] of Object.entries(templateFiles())) {
      writeFileSync(join(folder, name), text);
    }
    return startPeerAlone(folder, {
      node_modules: join(installedPackage().installed, "node_modules"),
    });
  },
  startAgain: startPeerAlone,
};

function startPeerAlone(
  folder: string,
  links: Record<string, string> = {},
): Promise<StartedServer> {
  return startPeerServer(folder, { graphs: { agent: "./agent.ts:agent" }, links });
}

function templateFiles(): Record<string, string> {
  const names = ["agent.ts", "tsconfig.json"];
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(REPO_ROOT, "template", name), "utf8")]),
  );
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
