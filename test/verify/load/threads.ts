import { join } from "node:path";
import { withDatabase } from "../../../cli/database/open-database.ts";
import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import { callTo } from "../kills/workload.ts";
import type { PartResult, Problems } from "../part.ts";

const REPO_ROOT = join(import.meta.dirname, "../../..");
const THREADS = 100_000;
const CREATIONS = 20;
const PAGE = 1000;
const PAGES = 5;
const NOTHING = { metadata: { team: "no thread has it" } };

type Thread = { thread_id: string };

/** Copies a real row, with a new id, time and metadata for each copy. */
const COPIES = `
  INSERT INTO threads
  SELECT t.workspace_id, t.deployment_id, printf('00000000-0000-7000-8000-%012x', n.value), t.status,
    json_object('number', n.value, 'owner', 'user ' || (n.value % 1000)), t.config, t.state_values,
    t.interrupts, t.error, t.omitted, t.values_chars, t.json_chars, t.created_at - n.value,
    t.updated_at - n.value, t.state_updated_at, t.version
  FROM threads t, json_each(?) n WHERE t.thread_id = ?`;
const COPIES_PER_STATEMENT = 5000;

/** Checks that with a hundred thousand threads a search finds the right ones, and delays no other request. */
export async function manyThreads(
  platform: PlatformProcess,
  problems: Problems,
): Promise<PartResult["figures"]> {
  const call = callTo(platform);
  const { thread_id } = (await call("POST", "/threads", {})) as Thread;
  await withDatabase(
    REPO_ROOT,
    { kind: "local", stateDir: platform.stateDir },
    async (database) => {
      for (let from = 0; from < THREADS; from += COPIES_PER_STATEMENT) {
        const numbers = Array.from({ length: COPIES_PER_STATEMENT }, (_, index) => from + index);
        await database.run(COPIES, [JSON.stringify(numbers), thread_id]);
      }
    },
  );

  const seen = new Set<string>();
  for (let page = 0; page < PAGES; page += 1) {
    const body = { limit: PAGE, offset: page * PAGE };
    const threads = (await call("POST", "/threads/search", body)) as Thread[];
    for (const thread of threads) seen.add(thread.thread_id);
  }
  if (seen.size !== PAGES * PAGE) problems.add("pages", `${seen.size} threads on ${PAGES} pages`);
  const one = { metadata: { number: THREADS - 1 } };
  const found = await timed(() => call("POST", "/threads/search", one));
  if ((found.value as Thread[]).length !== 1) problems.add("search", "the oldest is not found");
  const nothing = await timed(() => call("POST", "/threads/search", NOTHING));
  if ((nothing.value as Thread[]).length > 0) problems.add("search", "what is not there is found");

  const alone = await creations(call);
  const stop = new AbortController();
  const searches = (async () => {
    while (!stop.signal.aborted) await call("POST", "/threads/search", NOTHING);
  })();
  const beside = await creations(call);
  stop.abort();
  await searches;
  const ms = (value: number): string => `${Math.round(value)} ms`;
  return [
    ["threads", String(THREADS)],
    ["a search that finds the oldest", ms(found.ms)],
    ["a search that finds nothing", ms(nothing.ms)],
    ["creation of a thread, median", ms(alone)],
    ["the same beside a search that finds nothing", ms(beside)],
  ];
}

async function creations(call: ReturnType<typeof callTo>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < CREATIONS; index += 1) {
    times.push((await timed(() => call("POST", "/threads", {}))).ms);
  }
  return times.toSorted((a, b) => a - b)[CREATIONS / 2] ?? 0;
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const startedAt = performance.now();
  const value = await work();
  return { ms: performance.now() - startedAt, value };
}
