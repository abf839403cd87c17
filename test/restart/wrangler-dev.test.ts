import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { parquetReadObjects } from "hyparquet";
import { Client as TracingClient } from "langsmith";
import { afterAll, beforeAll, expect, test } from "vitest";
import { unstable_readConfig } from "wrangler";
import { localS3, type S3Credentials } from "../../cli/platform/local-s3.ts";
import { readObject, type TestBucket } from "../support/bucket-files.ts";
import { completedExport, createDestination, filesOf } from "../support/bulk-exports.ts";
import type { Caller } from "../support/stored-runs.ts";
import { FreshClone } from "./support/fresh-clone.ts";
import { until } from "./support/until.ts";

const TRACE_TIMEOUT_MS = 150_000;
/** A value with everything that a shell, a dotenv file or a JSON text could get wrong. */
const AWKWARD = `it's "so" \\\n $HOME #1 \`x\` \u{1F600}`;

const AGENT = `
import { Annotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ said: Annotation }))
  .addNode("say", () => ({ said: process.env.WORD }))
  .addEdge("__start__", "say")
  .compile();
`;

type Bucket = { local_dev?: { experimental_s3_credentials: S3Credentials } };

let clone: FreshClone;

beforeAll(() => {
  clone = new FreshClone();
});
afterAll(() => clone.dispose());

/** Writes a second project, beside the one in the repository's root. */
function writeProject(word: string): void {
  const folder = join(clone.path, "other");
  mkdirSync(folder, { recursive: true });
  const config = { graphs: { sayer: "./agent.js:graph" }, env: { WORD: word } };
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify(config));
  writeFileSync(join(folder, "agent.js"), AGENT);
}

/** Returns the bucket of wrangler.toml, which `wrangler dev` serves on its own port. */
function bucketOn(port: number): TestBucket {
  const { r2_buckets } = unstable_readConfig(
    { config: join(clone.path, "wrangler.toml") },
    { hideWarnings: true },
  );
  const served = (r2_buckets as Bucket[]).flatMap(({ local_dev }) =>
    local_dev === undefined ? [] : [local_dev.experimental_s3_credentials],
  );
  expect(served).toHaveLength(1);
  return localS3(port, served[0] ?? { accessKeyId: "", secretAccessKey: "" });
}

function callerOn(port: number): Caller {
  const headers = {
    "x-api-key": clone.devVar("LOCAL_API_KEY"),
    "content-type": "application/json",
  };
  return {
    api: (method, path, body) =>
      fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

function say(port: number): Promise<unknown> {
  const client = new Client({
    apiUrl: `http://127.0.0.1:${port}`,
    callerOptions: { maxRetries: 0 },
  });
  return client.runs.wait(null, "sayer", { input: {} });
}

test("a fresh clone is built, and wrangler dev runs agents, ingests traces and exports them", async () => {
  writeProject(AWKWARD);
  await clone.run("npm", "run", "build", "--", "--config", "other/langgraph.json");
  // Wrangler's check of what would be deployed must not create a local state.
  expect(existsSync(join(clone.path, ".wrangler/state"))).toBe(false);

  const port = await clone.startDev();
  expect(await say(port)).toEqual({ said: AWKWARD });

  const tracing = new TracingClient({
    apiUrl: `http://127.0.0.1:${port}/api/v1`,
    apiKey: clone.devVar("LOCAL_API_KEY"),
    autoBatchTracing: false,
    callerOptions: { maxRetries: 0 },
  });
  const id = crypto.randomUUID();
  const start_time = Date.now();
  await tracing.createRun({
    id,
    name: "own",
    run_type: "chain",
    inputs: { question: AWKWARD },
    outputs: {},
    project_name: "default",
    start_time,
    end_time: start_time + 1,
  });
  expect(await tracing.readRun(id)).toMatchObject({ inputs: { question: AWKWARD } });
  const { id: session_id } = await tracing.readProject({ projectName: "default" });
  const traced = async () => {
    const names: string[] = [];
    for await (const run of tracing.listRuns({ projectId: session_id, isRoot: true })) {
      if (run.status === "success") names.push(run.name);
    }
    return names.length === 2 && names.toSorted();
  };
  const names = await until(traced, TRACE_TIMEOUT_MS, "the agent's own trace");
  expect(names).toEqual(["LangGraph", "own"]);

  const caller = callerOn(port);
  const bucket = bucketOn(port);
  const { runs } = await completedExport(caller, {
    bulk_export_destination_id: await createDestination(caller, bucket),
    session_id,
    start_time: new Date(start_time - 86_400_000).toISOString(),
    end_time: new Date(start_time + 86_400_000).toISOString(),
    filter: "eq(is_root, true)",
    format_version: "v2_beta",
    compression: "snappy",
  });
  const exported: unknown[] = [];
  for (const path of filesOf(runs)) {
    const bytes = await readObject(bucket, path.slice(path.indexOf("/") + 1));
    exported.push(...(await parquetReadObjects({ file: new Uint8Array(bytes).buffer })));
  }
  const rows = exported as { name: string }[];
  expect(rows.map(({ name }) => name).toSorted()).toEqual(names);

  const cron = await fetch(`http://127.0.0.1:${port}/cdn-cgi/handler/scheduled?cron=*+*+*+*+*`);
  expect(cron.status).toBe(200);
  await clone.end(port);

  writeProject("another word");
  const again = await clone.startDev();
  expect(clone.output).not.toContain("The local database");
  expect(await say(again)).toEqual({ said: "another word" });
  const kept = await callerOn(again).api("GET", `/runs/${id}`);
  expect(kept.status).toBe(200);
});
