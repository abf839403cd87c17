import type { Run } from "langsmith";
import { ingestWorkspace } from "./ingest.ts";
import type { TestServer } from "./server.ts";
import { type RunData, runData } from "./trace-data.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const EXAMPLE = "0198c0de-0000-7000-8000-0000000000e1";

/** Stores runs with names that tests query by, in two threads and two projects. */
export async function shopOf(server: TestServer) {
  const workspace = await ingestWorkspace(server, "shop");
  const { client } = workspace;
  const now = Date.now();
  const make = (name: string, seconds: number | null, more: Record<string, unknown>): RunData => {
    const start = new Date(now - HOUR_MS - Number(more["ago"] ?? 0));
    const end = seconds === null ? {} : { end_time: start.getTime() + seconds * 1000 };
    return runData("shop", { start, name, ...end, ...more });
  };
  const thread = (thread_id: string) => ({ extra: { metadata: { thread_id } } });
  const usage = (input_tokens: number) => ({
    outputs: { usage_metadata: { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 } },
  });
  const slow = make("slow agent", 12, { ...thread("t1"), tags: ["experimental"] });
  const slowModel = make("extractor", 11, {
    ...usage(6000),
    parent: slow,
    run_type: "llm",
    ago: -1,
  });
  const search = make("search", 1, {
    parent: slow,
    run_type: "tool",
    error: "none found",
    ago: -2,
  });
  const fast = make("fast agent", 1, { ...thread("t1"), tags: ["beta"], ago: 1000 });
  const fastModel = make("extractor", 0.5, {
    ...usage(10),
    parent: fast,
    run_type: "llm",
    ago: 999,
  });
  const old = make("old job", 5, {
    ...thread("t2"),
    ago: 3 * DAY_MS,
    error: "gone",
    reference_example_id: EXAMPLE,
  });
  const pending = make("pending job", null, { ago: -1000, tags: ["beta"] });
  const other = { ...make("other", 1, { ago: -3 }), session_name: "second shop" };
  const post = [slow, slowModel, search, fast, fastModel, old, pending, other];
  await workspace.batch({ post });
  const opinions: [RunData, string, number][] = [
    [slow, "user_score", 1],
    [fast, "user_score", 0],
    [fastModel, "Correctness", 0],
  ];
  for (const [run, key, score] of opinions) {
    await client.createFeedback(run.id, key, { score, traceId: run.trace_id });
  }
  // The client sends feedback with its next batch.
  await client.flush();
  const { id: shop } = await client.readProject({ projectName: "shop" });
  const runs = { slow, slowModel, search, fast, fastModel, old, pending, other };
  return { ...workspace, now, shop, runs };
}

export type Shop = Awaited<ReturnType<typeof shopOf>>;

/** Returns the names of runs in a shop, and the ids of other runs. */
export function keysOf({ runs }: Shop, list: readonly Run[]): string[] {
  const byId = new Map(Object.entries(runs).map(([key, { id }]) => [id, key]));
  return list.map(({ id }) => byId.get(id) ?? id);
}
