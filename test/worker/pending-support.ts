import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { type ShardRef, shardStub } from "../../src/tracing/shard/shard-ref.ts";
import type { RunData } from "../support/trace-data.ts";
import { child, inShard, root, TestStore } from "./run-shard-support.ts";

export const NOON = new Date("2026-03-01T12:00:00Z");
export const DAY_MS = 86_400_000;
export const END = { end_time: "2026-03-01T12:00:05Z", outputs: { text: "an answer" } };

export type Waiting = { store: TestStore; ref: ShardRef; runs: [RunData, RunData, RunData] };

/** Creates a trace of three runs without any updates. */
export async function waitingTrace(fields: object = {}): Promise<Waiting> {
  const store = new TestStore();
  const top = { ...root({ start: NOON, name: "top" }), ...fields };
  const step = child(top, { start: NOON });
  const model = child(step, { start: NOON, run_type: "llm" });
  await store.post(top, step, model);
  const ref = await store.shardOn(NOON);
  return { store, ref, runs: [top, step, model] };
}

/** Returns the number of runs with their own row, and the number of rows of waiting runs. */
export function counts(ref: ShardRef): Promise<[runs: number, waiting: number]> {
  return inShard(ref, (sql) => [
    sql.exec<{ n: number }>("SELECT count(*) AS n FROM runs").one().n,
    sql.exec<{ n: number }>("SELECT count(*) AS n FROM pending_writes").one().n,
  ]);
}

export async function statuses(store: TestStore): Promise<Record<string, string>> {
  return Object.fromEntries((await store.select()).map(({ run }) => [run.id, run.status]));
}

/** Makes waiting runs look as if they had waited for `ms` milliseconds. */
export async function letWait(ref: ShardRef, ms: number): Promise<void> {
  await inShard(ref, (sql) =>
    sql.exec("UPDATE pending_writes SET received_at = received_at - ?", ms * 1_000).toArray(),
  );
  await evictDurableObject(shardStub(env, ref));
}
