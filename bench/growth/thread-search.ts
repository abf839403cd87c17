import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { indexFileOf } from "../../test/support/index-file.ts";
import { BENCH_GRAPHS } from "../support/paths.ts";
import type { Scratch } from "../support/scratch.ts";
import { startPlatformServer } from "../support/start-platform.ts";
import { median, roundTo } from "../support/statistics.ts";
import { printTable } from "../support/table.ts";
import { timed } from "../support/timing.ts";

/** The workspace for which `platform-process.ts` serves graphs without keys. */
const WORKSPACE_ID = "5b0f0c5e-6c57-4a3b-9a52-0d9f0b7a3c11";

const THREADS = 100_000;
const WARM_UP_CREATES = 20;
const ROUNDS = 3;
const CREATES_PER_ROUND = 20;

/**
 * Compares the time to create a thread while one client searches over 100,000 threads without pause, for a value that
 * none of them has, with the time that it takes alone.
 */
export async function measureThreadSearch(
  scratch: Scratch,
): Promise<{ create_beside_search_vs_alone: number }> {
  const stateDir = join(scratch.path, "thread-search");
  const configPath = join(BENCH_GRAPHS, "langgraph.json");
  const server = scratch.track(await startPlatformServer({ configPath, stateDir }));
  fillIndex(indexFileOf(stateDir));
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path} gave ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  const total = await post("/threads/count", {});
  if (total !== THREADS)
    throw new Error(`${THREADS} threads were made, ${String(total)} are found`);
  const create = () => timed(() => post("/threads", { metadata: { bench: true } }));
  const search = async (): Promise<number> =>
    timed(async () => {
      const found = await post("/threads/search", { metadata: { customer: "nobody" }, limit: 10 });
      if (!Array.isArray(found) || found.length > 0) throw new Error("The search found something");
    });
  for (let count = 0; count < WARM_UP_CREATES; count += 1) await create();
  await search();
  const [alone, beside, searches]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let count = 0; count < CREATES_PER_ROUND; count += 1) alone.push(await create());
    const over = new AbortController();
    const searching = (async () => {
      while (!over.signal.aborted) searches.push(await search());
    })();
    try {
      for (let count = 0; count < CREATES_PER_ROUND; count += 1) beside.push(await create());
    } finally {
      over.abort();
      await searching;
    }
  }
  await server.stop();
  const [createAlone, createBesideSearch] = [median(alone), median(beside)];
  console.log(`\nCreation of a thread with ${THREADS} in the index; medians, ms`);
  printTable(
    ["", "alone", "beside a search", "the search itself"],
    [["", ...[createAlone, createBesideSearch, median(searches)].map((ms) => ms.toFixed(1))]],
  );
  return { create_beside_search_vs_alone: roundTo(createBesideSearch / createAlone, 3) };
}

/** Inserts rows as the agent server writes them for threads that have run once. */
function fillIndex(file: string): void {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  try {
    const metadata = "json_object('graph_id', 'agent', 'assistant_id', 'agent', 'user', 'u' || n)";
    database
      .prepare(
        `INSERT INTO threads (workspace_id, deployment_id, thread_id, status, metadata, config,
           state_values, interrupts, error, omitted, values_chars, json_chars, created_at,
           updated_at, state_updated_at, version)
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
         SELECT ?, 'default', printf('%08x-0000-4000-8000-%012x', abs(random()) >> 31, n), 'idle',
           ${metadata}, '{"configurable":{}}', ?, '{}', NULL, 'none', 200, 300, n, n, n, 1
         FROM n`,
      )
      .run(THREADS, WORKSPACE_ID, JSON.stringify({ messages: ["hello there".repeat(15)] }));
  } finally {
    database.close();
  }
}
