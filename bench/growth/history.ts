import { join } from "node:path";
import { BENCH_GRAPHS } from "../support/paths.ts";
import type { Scratch } from "../support/scratch.ts";
import { startPlatformServer } from "../support/start-platform.ts";
import { median, roundTo } from "../support/statistics.ts";
import { printTable } from "../support/table.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const FEW = 100;
const MANY = SMALL ? 300 : 10_000;
const WARM_UP_ROUNDS = SMALL ? 1 : 10;
const ROUNDS = SMALL ? 3 : 60;
const PAGE_SIZE = 10;

type State = { checkpoint: { checkpoint_id: string } };

/** The page of a thread's history to read, as the share of checkpoints that are newer. */
const PLACES = { newest: 0, middle: 0.5, oldest: 0.9 } as const;

type Place = keyof typeof PLACES;

const PLACE_NAMES: Place[] = ["newest", "middle", "oldest"];

/** Compares a page of history in a long thread with one in a short thread, and returns the worst of three places. */
export async function measureHistory(scratch: Scratch): Promise<{ history_10k_vs_100: number }> {
  const server = scratch.track(
    await startPlatformServer({
      configPath: join(BENCH_GRAPHS, "langgraph.json"),
      stateDir: join(scratch.path, "history"),
    }),
  );
  const threads = {
    few: await makeThread(server.url, FEW),
    many: await makeThread(server.url, MANY),
  };
  const millis: Record<Place, Record<keyof typeof threads, number[]>> = {
    newest: { few: [], many: [] },
    middle: { few: [], many: [] },
    oldest: { few: [], many: [] },
  };
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    for (const place of PLACE_NAMES) {
      // The order alternates, so that a noisy moment affects both.
      const names = ["few", "many"] as const;
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const started = performance.now();
        await readPage(server.url, threads[name].id, threads[name].before[place]);
        if (round >= WARM_UP_ROUNDS) millis[place][name].push(performance.now() - started);
      }
    }
  }
  await server.stop();
  return report(millis);
}

function report(millis: Record<Place, { few: number[]; many: number[] }>): {
  history_10k_vs_100: number;
} {
  const ratios = PLACE_NAMES.map((place) => median(millis[place].many) / median(millis[place].few));
  console.log(`\nA page of ${PAGE_SIZE} states; median of ${ROUNDS} requests, ms`);
  printTable(
    ["page", `${FEW} checkpoints`, `${MANY} checkpoints`, "ratio"],
    PLACE_NAMES.map((place, index) => [
      place,
      median(millis[place].few).toFixed(1),
      median(millis[place].many).toFixed(1),
      (ratios[index] ?? 0).toFixed(2),
    ]),
  );
  return { history_10k_vs_100: roundTo(Math.max(...ratios), 3) };
}

type Thread = { id: string; before: Record<Place, string | null> };

async function makeThread(url: string, checkpoints: number): Promise<Thread> {
  const supersteps = Array.from({ length: checkpoints }, (_, prepared) => ({
    updates: [{ values: { prepared }, as_node: "prepare" }],
  }));
  const metadata = { graph_id: "agent" };
  const made = await request(url, "/threads", { metadata, supersteps });
  const { thread_id } = made as { thread_id: string };
  const ids: string[] = [];
  while (ids.length < checkpoints) {
    const page = (await request(url, `/threads/${thread_id}/history`, {
      limit: 1000,
      before: ids.at(-1),
    })) as State[];
    if (page.length === 0) throw new Error(`The thread has ${ids.length} checkpoints`);
    ids.push(...page.map(({ checkpoint }) => checkpoint.checkpoint_id));
  }
  const at = (place: Place): string | null => ids[Math.floor(checkpoints * PLACES[place])] ?? null;
  return {
    id: thread_id,
    before: { newest: null, middle: at("middle"), oldest: at("oldest") },
  };
}

async function readPage(url: string, threadId: string, before: string | null): Promise<void> {
  const body = { limit: PAGE_SIZE, ...(before === null ? {} : { before }) };
  const page = (await request(url, `/threads/${threadId}/history`, body)) as State[];
  // The oldest tenth of the short thread has at most ten states.
  if (page.length < PAGE_SIZE - 1) throw new Error(`A page has ${page.length} states`);
}

async function request(url: string, path: string, body: object): Promise<unknown> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} gave ${response.status}: ${text}`);
  return JSON.parse(text);
}
