import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { multipartBody } from "../support/multipart.ts";
import { endOf, type RunData, traceOf } from "../support/trace-data.ts";
import { PlatformProcess } from "./support/platform-process.ts";
import { chooseSeed, Random } from "./support/random.ts";
import { until } from "./support/until.ts";

const KILLS = 20;
const CLIENTS = 4;
const RUNS_PER_REQUEST = 5;
const MORE_TIMEOUT_MS = 150_000;
const PROJECT = "hammered";

const seed = chooseSeed();
const random = new Random(seed);
let platform: PlatformProcess;
let apiKey: string;

beforeAll(async () => {
  platform = await PlatformProcess.start();
  const vars = readFileSync(resolve(import.meta.dirname, "../../.dev.vars"), "utf8");
  apiKey = String(/^LOCAL_API_KEY=(.*)$/m.exec(vars)?.[1]);
});
afterAll(() => platform.dispose());

test(`every acknowledged run is there once and complete (RESTART_SEED=${seed})`, async () => {
  const acknowledged = new Map<string, RunData>();
  /** Runs of which only the create may be stored, as they wait for their update. */
  const created = new Map<string, RunData>();
  const stop = new AbortController();
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let index = 0; !stop.signal.aborted; index += 1) {
      const runs = traceOf(PROJECT, `${client}/${index}`, RUNS_PER_REQUEST);
      const patches = runs.map(endOf);
      const send = index % 2 === 0 ? sendMultipart : sendBatch;
      // Like an SDK, this sends again what was not acknowledged.
      const isSent = async (post: RunData[], patch: typeof patches): Promise<boolean> => {
        while (!stop.signal.aborted && !(await send(post, patch))) await sleep(20);
        return !stop.signal.aborted;
      };
      if (index % 3 === 0) {
        if (!(await isSent(runs, patches))) continue;
      } else {
        if (!(await isSent(runs, []))) continue;
        for (const run of runs) created.set(run.id, run);
        // Some runs never end.
        if (index % 3 === 1 || !(await isSent([], patches))) continue;
      }
      for (const run of runs) acknowledged.set(run.id, run);
    }
  });
  /** Waits until this start has accepted something, however slow the machine is. */
  const untilMore = async (): Promise<void> => {
    const before = acknowledged.size;
    await until(() => acknowledged.size > before, MORE_TIMEOUT_MS, "an acknowledged request");
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    await untilMore();
    await sleep(random.between(0, 900));
    // A restart ends everything, like a power cut; after a crash of workerd alone, the server starts another one.
    await (kill % 2 === 0 ? platform.restart() : platform.crash());
  }
  await untilMore();
  stop.abort();
  await Promise.all(clients);

  const found = await readAll();
  expect(acknowledged.size).toBeGreaterThan(KILLS * RUNS_PER_REQUEST);
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
  const byId = new Map(found.map((run) => [run.id, run]));
  const wrong = [...acknowledged.values()].filter((run) => {
    const stored = byId.get(run.id);
    return (
      stored?.["status"] !== "success" ||
      stored["name"] !== run.name ||
      JSON.stringify(stored["inputs"]) !== JSON.stringify(run["inputs"]) ||
      JSON.stringify(stored["outputs"]) !== JSON.stringify({ echo: run["inputs"] })
    );
  });
  expect(wrong.map(({ id }) => id)).toEqual([]);
  expect(created.size).toBeGreaterThan(KILLS * RUNS_PER_REQUEST);
  const lost = [...created.values()].filter((run) => {
    const stored = byId.get(run.id);
    return (
      stored?.["name"] !== run.name ||
      JSON.stringify(stored["inputs"]) !== JSON.stringify(run["inputs"])
    );
  });
  expect(lost.map(({ id }) => id)).toEqual([]);
});

/** Returns whether the server acknowledged the batch. */
async function sendBatch(post: object[], patch: object[]): Promise<boolean> {
  return send("/runs/batch", JSON.stringify({ post, patch }), "application/json");
}

async function sendMultipart(post: RunData[], patch: { id: string; outputs: unknown }[]) {
  const { body, contentType } = multipartBody([
    ...post.flatMap(({ inputs, ...run }) => [
      { name: `post.${run.id}`, body: JSON.stringify(run) },
      { name: `post.${run.id}.inputs`, body: JSON.stringify(inputs) },
    ]),
    ...patch.flatMap(({ outputs, ...run }) => [
      { name: `patch.${run.id}`, body: JSON.stringify(run) },
      { name: `patch.${run.id}.outputs`, body: JSON.stringify(outputs) },
    ]),
  ]);
  return send("/runs/multipart", body, contentType);
}

async function send(path: string, body: string | Buffer, contentType: string): Promise<boolean> {
  try {
    const response = await fetch(`${platform.url}/api/v1${path}`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": contentType },
      body: typeof body === "string" ? body : new Uint8Array(body),
    });
    await response.arrayBuffer();
    // A request that the kill interrupts may also fail with other errors than a lost connection.
    if (response.status >= 400 && response.status < 500) {
      throw new Error(`refused with ${response.status}`);
    }
    return response.ok;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("refused")) throw error;
    return false;
  }
}

async function readAll(): Promise<RunData[]> {
  const runs: RunData[] = [];
  const projects = (await api("GET", `/sessions?name=${PROJECT}`)) as { id: string }[];
  let cursor: string | null = null;
  do {
    const page = (await api("POST", "/runs/query", {
      session: projects.map(({ id }) => id),
      select: ["inputs", "outputs"],
      cursor,
    })) as { runs: RunData[]; cursors: { next: string | null } };
    runs.push(...page.runs);
    cursor = page.cursors.next;
  } while (cursor !== null);
  return runs;
}

async function api(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${platform.url}/api/v1${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return response.json();
}
