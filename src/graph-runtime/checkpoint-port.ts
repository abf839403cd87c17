/** What a checkpointer asks of the thread that stores its checkpoints: plain data that crosses the RPC boundary. */

/** A value as LangGraph's serde writes it: its type tag and its bytes. */
export type SerializedValue = [type: string, data: Uint8Array];

export type CheckpointPut = {
  ns: string;
  id: string;
  parent_id: string | null;
  /** LangGraph's checkpoint format, its `v`. */
  format: number;
  /** The checkpoint without its channel values. */
  checkpoint: SerializedValue;
  metadata: SerializedValue;
  /** Channels whose version is new, with their values. One that became empty has none. */
  channels: [channel: string, value: SerializedValue][];
  /** Channels whose version is the parent's, and so their value. */
  inherited: string[];
};

export type WritesPut = {
  ns: string;
  checkpoint_id: string;
  task_id: string;
  /** Where the task stands in its superstep, which orders the writes; absent before LangGraph told it. */
  task_path?: string;
  /** `idx` follows LangGraph's WRITES_IDX_MAP: negative for special writes, which overwrite. */
  writes: [idx: number, channel: string, value: SerializedValue][];
};

export type StoredCheckpoint = {
  ns: string;
  id: string;
  parent_id: string | null;
  checkpoint: SerializedValue;
  metadata: SerializedValue;
  channels: [channel: string, value: SerializedValue][];
  writes: [task_id: string, channel: string, value: SerializedValue][];
  /** Pending writes of the parent: only old checkpoint formats (v < 4) keep their sends there. */
  parent_writes?: [task_id: string, channel: string, value: SerializedValue][];
  /** There is no room for the writes in this message: each checkpoint's are asked for by themselves. */
  writes_apart?: true;
};

export type CheckpointQuery = {
  /** `undefined` lists every namespace. */
  ns?: string | undefined;
  id?: string | undefined;
  before?: string | undefined;
  limit?: number | undefined;
  /** Equality on top-level metadata keys. */
  filter?: Record<string, unknown> | undefined;
  /** Whoever asks takes `writes_apart`; others are refused what is too large for one message. */
  apart?: boolean | undefined;
};

/** A page may be short, or empty, and not be the last. */
export type CheckpointPage = {
  checkpoints: StoredCheckpoint[];
  /** The `before` of the page behind this one; null when this is the last. */
  next: string | null;
};

/** The part of a thread's storage that a checkpointer needs; an RpcTarget of the ThreadObject. */
export interface CheckpointPort {
  getCheckpoint(
    ns: string,
    id: string | null,
    options?: { apart: boolean },
  ): Promise<StoredCheckpoint | null>;
  /** The pending writes of one checkpoint. */
  getWrites(ns: string, id: string): Promise<StoredCheckpoint["writes"]>;
  /** Newest first. Rejects when `limit` is not 1 to MAX_CHECKPOINT_PAGE. */
  checkpointPage(query: CheckpointQuery): Promise<CheckpointPage>;
}

/**
 * What a checkpoint may have with all its channel values, and what all its pending writes may have: each is read by
 * one RPC message, which carries 32 MiB.
 */
export const MAX_CHECKPOINT_BYTES = 30 * 1024 * 1024;

/** How many checkpoints one page may be asked for. */
export const MAX_CHECKPOINT_PAGE = 100;

/** A port that also accepts writes outside a run (state updates). */
export interface WritableCheckpointPort extends CheckpointPort {
  save(batch: CheckpointBatch): Promise<void>;
}

/** In the order in which they were made: a checkpoint before the writes that hang on it. */
export type CheckpointOp = { put: CheckpointPut } | { writes: WritesPut };

export type CheckpointBatch = CheckpointOp[];
