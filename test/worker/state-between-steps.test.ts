import { Annotation, type Pregel, START, StateGraph } from "@langchain/langgraph";
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { test } from "vitest";
import { CheckpointTable } from "../../src/agent-server/threads/storage/checkpoint-table.ts";
import { ThreadTables } from "../../src/agent-server/threads/storage/thread-tables.ts";
import { THREAD_MIGRATIONS } from "../../src/agent-server/threads/storage/thread-migrations.ts";
import type { CheckpointOp, CheckpointPort } from "../../src/graph-runtime/checkpoint-port.ts";
import { readHistory, readState } from "../../src/graph-runtime/state-requests.ts";
import { ThreadCheckpointer } from "../../src/graph-runtime/thread-checkpointer.ts";
import { readJsonText } from "../../src/lib/json-answer.ts";
import { migrateTables } from "../../src/lib/object-migrations.ts";

const THREAD = "t";

const ANY_SIZE = 1024 * 1024;

const State = Annotation.Root({ trail: Annotation<string> });

const builder = new StateGraph(State)
  .addNode("first", ({ trail }) => ({ trail: `${trail} first` }))
  .addNode("second", ({ trail }) => ({ trail: `${trail} second` }))
  .addEdge(START, "first")
  .addEdge("first", "second");

/**
 * Returns the operations that a run of the graph stores, in order, up to its last task's writes: its last checkpoint
 * is missing.
 */
async function storedBeforeItsEnd(): Promise<CheckpointOp[]> {
  const ops: CheckpointOp[] = [];
  const port = {
    getCheckpoint: async () => null,
  } as Partial<CheckpointPort> as CheckpointPort;
  const checkpointer = new ThreadCheckpointer({
    threadId: THREAD,
    port,
    sink: (op) => void ops.push(op),
  });
  const graph = builder.compile({ checkpointer });
  await graph.invoke({ trail: "go" }, { configurable: { thread_id: THREAD } });
  const last = ops.pop();
  if (last === undefined || !("put" in last)) throw new Error("A run ends with a checkpoint");
  return ops;
}

type Shown = { next: string[]; values: { trail: string } };

test("a thread whose last task has written shows the state before its step while a run is at work", async ({
  expect,
}) => {
  const ops = await storedBeforeItsEnd();
  const stub = env.THREADS.get(env.THREADS.newUniqueId());
  const shown = await runInDurableObject(stub, async (_, { storage }) => {
    migrateTables(storage, THREAD_MIGRATIONS);
    const table = new CheckpointTable(storage.sql, new ThreadTables(storage.sql));
    table.apply(ops, null);
    const port: CheckpointPort & { dup: () => CheckpointPort & Disposable } = {
      getCheckpoint: async (ns, id, options) => table.get(ns, id, options),
      getWrites: async (ns, id) => table.writes(ns, id),
      checkpointPage: async (query) => table.page(query),
      dup: () => ({ ...port, [Symbol.dispose]: () => {} }),
    };
    const graph = builder.compile() as unknown as Pregel<never, never>;
    const asked = {
      graph_id: "g",
      config: { configurable: {}, metadata: {} },
      thread_id: THREAD,
      checkpoint: null,
    };
    const parsed = async (json: ReturnType<typeof readState>): Promise<unknown> =>
      JSON.parse((await readJsonText(await json, ANY_SIZE)) ?? "");
    const read = async (in_flight: boolean): Promise<Shown> =>
      (await parsed(readState(graph, { ...asked, subgraphs: false, in_flight }, port))) as Shown;
    const history = readHistory(graph, { ...asked, limit: 10, before: null, filter: null }, port);
    return {
      during: await read(true),
      later: await read(false),
      history: (await parsed(history)) as Shown[],
    };
  });
  expect(shown.during).toMatchObject({ next: ["second"], values: { trail: "go first" } });
  // A run that died there has no next nodes: the writes of its task count.
  expect(shown.later).toMatchObject({ next: [], values: { trail: "go first second" } });
  expect(shown.history.map(({ next }) => next)).toEqual([["second"], ["first"], ["__start__"]]);
});
