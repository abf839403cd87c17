import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { buildTarball } from "../cli/project/tarball.ts";
import { GitHost, type Files } from "../test/support/git-host.ts";
import { NpmRegistry } from "../test/support/npm-registry.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { deploySource } from "./support/deploy-agent.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch } from "./support/scratch.ts";
import { median } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { startTracingPlatform, type TracingPlatform } from "./support/tracing-platform.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const ROUNDS = SMALL ? 1 : 5;
const TIME_LIMIT_MS = 20 * 60_000;
const POLL_MS = 25;

const REPOSITORY = "bench/agent";
const PACKAGES = ["@langchain/core", "@langchain/langgraph", "@langchain/openai", "langchain"];

/** An agent with a model provider, and a graph that answers without one. */
const SOURCES: Files = {
  "langgraph.json": JSON.stringify({
    graphs: { agent: "./echo.ts:graph", assistant: "./assistant.ts:agent" },
  }),
  "echo.ts": `
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", () => ({ messages: [{ role: "ai", content: "Here" }] }))
  .addEdge("__start__", "answer")
  .compile();
`,
  "assistant.ts": `
import { createAgent } from "langchain";
import { ChatOpenAI } from "@langchain/openai";
export const agent = createAgent({ model: new ChatOpenAI({ apiKey: "none" }), tools: [] });
`,
};

type Samples = { cold: number[]; warm: number[]; local: number[] };

/**
 * Measures the time from a repository to the first answer of a run, built on the platform with an empty package cache
 * and with a full one. For comparison it measures `npm ci` with an empty cache and a local build, which serves nothing
 * yet.
 */
export async function run(): Promise<BenchResult> {
  return inScratch("build", TIME_LIMIT_MS, async (scratch) => {
    const host = await GitHost.start();
    const registry = await NpmRegistry.start();
    scratch.track({ stop: () => host.close() });
    scratch.track({ stop: () => registry.close() });
    const files = { ...SOURCES, ...(await registry.manifests(PACKAGES)) };
    host.push(REPOSITORY, files);
    const vars = { ...host.vars, NPM_REGISTRY: registry.url };
    const samples: Samples = { cold: [], warm: [], local: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const folder = join(scratch.path, `round-${round}`);
      samples.local.push(await timed(() => buildLocally(folder, files, registry.url)));
      await rm(folder, { recursive: true });
      // Each platform has a new state directory, so its package cache is empty.
      const platform = await startTracingPlatform(join(scratch.path, `platform-${round}`), {
        vars,
      });
      scratch.track(platform);
      samples.cold.push(await timed(() => deployAndRun(platform, host, "cold")));
      samples.warm.push(await timed(() => deployAndRun(platform, host, "warm")));
      await platform.stop();
    }
    return report(samples);
  });
}

async function buildLocally(folder: string, files: Files, registry: string): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const run = promisify(execFile);
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", `--registry=${registry}`];
  await run("npm", ["ci", ...options, `--cache=${join(folder, "cache")}`], { cwd: folder });
  // The platform reads the schemas from TypeScript types separately, beside the build.
  await buildTarball({ configPath: folder, schemas: false });
}

async function deployAndRun(platform: TracingPlatform, host: GitHost, name: string): Promise<void> {
  const source = {
    source: "github",
    source_config: { repo_url: host.urlOf(REPOSITORY) },
    source_revision_config: { langgraph_config_path: "langgraph.json" },
  };
  const url = await deploySource(platform, name, source, POLL_MS);
  const response = await fetch(`${url}/runs/wait`, {
    method: "POST",
    headers: { "x-api-key": platform.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "agent", input: { messages: [] } }),
  });
  const text = await response.text();
  if (!text.includes("Here")) throw new Error(`The run gave ${response.status}: ${text}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function report({ cold, warm, local }: Samples): BenchResult {
  const [coldMs, warmMs, localMs] = [median(cold), median(warm), median(local)];
  const ms = (value: number): string => `${Math.round(value)} ms`;
  console.log(`\nFrom a repository, medians of ${ROUNDS} rounds:`);
  printTable(
    ["", "time"],
    [
      ["built on the platform, to the first answer; no package in its cache", ms(coldMs)],
      ["the same with all packages in its cache", ms(warmMs)],
      ["npm ci and threadworks build on this machine", ms(localMs)],
    ],
  );
  return reportRatios({
    remote_build_cold_vs_local: [coldMs / localMs, "<= 3"],
    remote_build_warm_vs_local: [warmMs / localMs, "<= 1"],
  });
}
