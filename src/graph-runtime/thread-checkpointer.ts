import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type ChannelVersions,
  copyCheckpoint,
  maxChannelVersion,
  type PendingWrite,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { CheckpointSizes } from "./checkpoint-size.ts";
import type {
  CheckpointOp,
  CheckpointPort,
  CheckpointPut,
  StoredCheckpoint,
  SerializedValue,
  WritesPut,
} from "./checkpoint-port.ts";
import { UnserialisableValueError } from "./wire-json.ts";
import { messageOf } from "../lib/error-text.ts";

/** Receives each put. LangGraph awaits a returned promise before it treats the checkpoint as saved. */
type CheckpointSink = (op: CheckpointOp) => Promise<void> | void;

export type ThreadCheckpointerOptions = {
  threadId: string;
  port: CheckpointPort;
  sink: CheckpointSink;
  /** Added to every checkpoint's metadata: run and assistant ids, user metadata. */
  metadata?: Record<string, unknown>;
  /** Namespaces that held checkpoints when the run began. Without it every look-up asks the port. */
  knownNamespaces?: string[];
  /** The newest root checkpoint, when it is known already: the first look-up then costs no round trip. */
  start?: StoredCheckpoint | null;
};

/** Page size of listings, which bounds what one page holds in memory. */
const LIST_PAGE_SIZE = 50;

/**
 * LangGraph's checkpointer over the storage of one thread, which is reached through an RPC port. Values are
 * serialised with LangGraph's own serde. Channel values are stored per channel and only when their version is
 * new, so a step costs only what it changed.
 */
export class ThreadCheckpointer extends BaseCheckpointSaver {
  readonly #options: ThreadCheckpointerOptions;
  readonly #namespaces: Set<string> | null;
  readonly #sizes = new CheckpointSizes();
  #start: StoredCheckpoint | null;

  constructor(options: ThreadCheckpointerOptions) {
    super();
    this.#options = options;
    this.#namespaces = options.knownNamespaces ? new Set(options.knownNamespaces) : null;
    this.#start = options.start ?? null;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const ns = namespaceOf(config);
    const id = checkpointIdOf(config);
    if (
      threadOf(config) !== this.#options.threadId ||
      (this.#namespaces && !this.#namespaces.has(ns))
    )
      return undefined;
    const prefetched = this.#start;
    if (prefetched !== null && ns === prefetched.ns && (id === null || id === prefetched.id)) {
      return this.#goOnFrom(prefetched);
    }
    const stored = await this.#options.port.getCheckpoint(ns, id, { apart: true });
    return stored === null ? undefined : this.#goOnFrom(stored);
  }

  async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const threadId = threadOf(config);
    if (threadId !== undefined && threadId !== this.#options.threadId) return;
    const { limit = Infinity, filter } = options;
    let before: string | undefined = options.before?.configurable?.["checkpoint_id"];
    for (let left = limit; left > 0;) {
      const { checkpoints, next } = await this.#options.port.checkpointPage({
        ns: config.configurable?.["checkpoint_ns"],
        id: config.configurable?.["checkpoint_id"],
        before,
        limit: Math.min(left, LIST_PAGE_SIZE),
        filter,
        apart: true,
      });
      for (const stored of checkpoints) yield await this.#toTuple(await this.#whole(stored));
      if (next === null) return;
      before = next;
      left -= checkpoints.length;
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const threadId = this.#requireThread(config);
    const ns = namespaceOf(config);
    const { channel_values, ...rest } = copyCheckpoint(checkpoint);
    const channels: CheckpointPut["channels"] = [];
    for (const channel of Object.keys(newVersions)) {
      if (!Object.hasOwn(channel_values, channel)) continue;
      channels.push([channel, await this.#dump(channel, channel_values[channel])]);
    }
    const put: CheckpointPut = {
      ns,
      id: checkpoint.id,
      parent_id: config.configurable?.["checkpoint_id"] ?? null,
      format: checkpoint.v,
      checkpoint: await this.serde.dumpsTyped(rest),
      metadata: await this.serde.dumpsTyped({ ...this.#options.metadata, ...metadata }),
      channels,
      inherited: Object.keys(checkpoint.channel_versions).filter(
        (channel) => !Object.hasOwn(newVersions, channel),
      ),
    };
    this.#sizes.notePut(put);
    if (ns === (this.#start?.ns ?? "")) this.#start = null;
    this.#namespaces?.add(ns);
    await this.#options.sink({ put });
    return {
      configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpoint.id },
    };
  }

  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    this.#requireThread(config);
    const checkpointId: string | undefined = config.configurable?.["checkpoint_id"];
    if (checkpointId === undefined) {
      throw new Error('putWrites needs a "checkpoint_id" in config.configurable');
    }
    const put: WritesPut = {
      ns: namespaceOf(config),
      checkpoint_id: checkpointId,
      task_id: taskId,
      task_path: taskPath,
      writes: await Promise.all(
        writes.map(async ([channel, value], index): Promise<WritesPut["writes"][number]> => [
          WRITES_IDX_MAP[channel] ?? index,
          channel,
          await this.#dump(channel, value),
        ]),
      ),
    };
    this.#sizes.noteWrites(put);
    if (this.#start?.id === checkpointId) this.#start = null;
    await this.#options.sink({ writes: put });
  }

  /** Always throws. The ThreadObject deletes whole threads; graph code must not. */
  async deleteThread(): Promise<void> {
    throw new Error("A graph cannot delete its thread; use DELETE /threads/{thread_id}");
  }

  /**
   * Serialises a value. Throws for a function, for which LangGraph's serde writes nothing that could be read
   * back.
   */
  async #dump(channel: string, value: unknown): Promise<SerializedValue> {
    let typed: SerializedValue;
    try {
      typed = await this.serde.dumpsTyped(value);
    } catch (error) {
      const reason = messageOf(error);
      throw new UnserialisableValueError(
        `The value of channel "${channel}" cannot be stored: ${reason}`,
        { cause: error },
      );
    }
    if (typed[0] === "json" && typed[1].byteLength === 0) {
      throw new UnserialisableValueError(
        `The value of channel "${channel}" cannot be stored: it is a ${typeof value}`,
      );
    }
    return typed;
  }

  #requireThread(config: RunnableConfig): string {
    const threadId = threadOf(config);
    if (threadId !== this.#options.threadId) {
      throw new Error(
        `This checkpointer belongs to thread ${this.#options.threadId}; config.configurable.thread_id is ${String(threadId)}`,
      );
    }
    return this.#options.threadId;
  }

  async #goOnFrom(stored: StoredCheckpoint): Promise<CheckpointTuple> {
    const whole = await this.#whole(stored);
    this.#sizes.noteRead(whole);
    return this.#toTuple(whole);
  }

  async #whole(stored: StoredCheckpoint): Promise<StoredCheckpoint> {
    if (stored.writes_apart === undefined) return stored;
    const { ns, id, parent_id, parent_writes } = stored;
    const { port } = this.#options;
    const whole = { ...stored, writes: await port.getWrites(ns, id) };
    if (parent_writes !== undefined && parent_id !== null) {
      whole.parent_writes = await port.getWrites(ns, parent_id);
    }
    return whole;
  }

  async #toTuple(stored: StoredCheckpoint): Promise<CheckpointTuple> {
    const at = (id: string): RunnableConfig => ({
      configurable: {
        thread_id: this.#options.threadId,
        checkpoint_ns: stored.ns,
        checkpoint_id: id,
      },
    });
    const checkpoint = await this.serde.loadsTyped(...stored.checkpoint);
    checkpoint.channel_values = {};
    for (const [channel, value] of stored.channels) {
      checkpoint.channel_values[channel] = await this.serde.loadsTyped(...value);
    }
    if (checkpoint.v < 4 && stored.parent_writes !== undefined) {
      await this.#migratePendingSends(checkpoint, stored.parent_writes);
    }
    const tuple: CheckpointTuple = {
      config: at(stored.id),
      checkpoint,
      metadata: await this.serde.loadsTyped(...stored.metadata),
      pendingWrites: await Promise.all(
        stored.writes.map(async ([taskId, channel, value]) => [
          taskId,
          channel,
          await this.serde.loadsTyped(...value),
        ]),
      ),
    };
    if (stored.parent_id !== null) tuple.parentConfig = at(stored.parent_id);
    return tuple;
  }

  /** Restores sends, which checkpoints before format 4 kept as pending writes of the parent. */
  async #migratePendingSends(
    checkpoint: Checkpoint,
    parentWrites: NonNullable<StoredCheckpoint["parent_writes"]>,
  ): Promise<void> {
    const sends = parentWrites.filter(([, channel]) => channel === TASKS);
    checkpoint.channel_values[TASKS] = await Promise.all(
      sends.map(([, , value]) => this.serde.loadsTyped(...value)),
    );
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

function threadOf(config: RunnableConfig): unknown {
  return config.configurable?.["thread_id"];
}

function namespaceOf(config: RunnableConfig): string {
  return config.configurable?.["checkpoint_ns"] ?? "";
}

/**
 * Returns the checkpoint id. The package exports this as `getCheckpointId` only from 0.0.14 on, and lockfiles
 * of LangGraph 0.2 name 0.0.13.
 */
function checkpointIdOf({ configurable }: RunnableConfig): string | null {
  return configurable?.["checkpoint_id"] || configurable?.["thread_ts"] || null;
}
