import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { CheckpointTable } from "../../src/agent-server/threads/storage/checkpoint-table.ts";
import { ThreadTables } from "../../src/agent-server/threads/storage/thread-tables.ts";
import { THREAD_MIGRATIONS } from "../../src/agent-server/threads/storage/thread-migrations.ts";
import { migrateTables } from "../../src/lib/object-migrations.ts";
import type { CheckpointOp, CheckpointPort } from "../../src/graph-runtime/checkpoint-port.ts";
import { ThreadCheckpointer } from "../../src/graph-runtime/thread-checkpointer.ts";

/**
 * Runs LangGraph's own conformance suite for checkpointers against ThreadCheckpointer over the SQLite of real objects.
 * The suite uses one saver for many threads; ours is for one thread, so this class creates one saver, with a new
 * object, for each thread.
 */
class SaverOfManyThreads extends BaseCheckpointSaver {
  readonly #run = crypto.randomUUID();
  readonly #threads = new Map<string, ThreadCheckpointer>();

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    return this.#of(config).getTuple(config);
  }

  async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const threadId: string | undefined = config.configurable?.["thread_id"];
    const ids = threadId === undefined ? [...this.#threads.keys()] : [threadId];
    let left = options?.limit ?? Infinity;
    for (const id of ids) {
      const ofThread = { configurable: { ...config.configurable, thread_id: id } };
      for await (const tuple of this.#of(ofThread).list(ofThread, options)) {
        if (left-- <= 0) return;
        yield tuple;
      }
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#of(config).put(config, checkpoint, metadata, newVersions);
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    await this.#of(config).putWrites(config, writes, taskId);
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#threads.delete(threadId);
    const stub = this.#object(threadId);
    await runInDurableObject(stub, (_, state) => state.storage.deleteAll());
  }

  #of(config: RunnableConfig): ThreadCheckpointer {
    const threadId: unknown = config.configurable?.["thread_id"];
    if (typeof threadId !== "string") throw new Error("thread_id is missing");
    let saver = this.#threads.get(threadId);
    if (saver === undefined) {
      const use = <T>(action: (table: CheckpointTable) => T): Promise<T> =>
        runInDurableObject(this.#object(threadId), (_, state) => {
          migrateTables(state.storage, THREAD_MIGRATIONS);
          return action(
            new CheckpointTable(state.storage.sql, new ThreadTables(state.storage.sql)),
          );
        });
      const port: CheckpointPort = {
        getCheckpoint: (ns, id, options) => use((table) => table.get(ns, id, options)),
        getWrites: (ns, id) => use((table) => table.writes(ns, id)),
        checkpointPage: (query) => use((table) => table.page(query)),
      };
      const sink = (op: CheckpointOp): Promise<void> => use((table) => table.apply([op], null));
      saver = new ThreadCheckpointer({ threadId, port, sink });
      this.#threads.set(threadId, saver);
    }
    return saver;
  }

  #object(threadId: string): DurableObjectStub {
    return env.THREADS.get(env.THREADS.idFromName(`checkpointer/${this.#run}/${threadId}`));
  }
}

const initializer = {
  checkpointerName: "threadworks",
  createCheckpointer: () => new SaverOfManyThreads(),
};

validate(initializer);
deltaChannelHistoryTests(initializer);
