/**
 * The calls by which a checkpointer reads and writes the thread that stores its checkpoints. All of it is
 * plain data that crosses the RPC boundary.
 */

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
  /** Channels with a new version, and their values. A channel that became empty is left out. */
  channels: [channel: string, value: SerializedValue][];
  /** Channels whose version, and therefore value, is that of the parent checkpoint. */
  inherited: string[];
};

export type WritesPut = {
  ns: string;
  checkpoint_id: string;
  task_id: string;
  /**
   * Path of the task within its superstep, by which the writes are ordered; absent with versions of LangGraph
   * that do not pass it.
   */
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
  /** Set when the writes do not fit into this message; they are then read for each checkpoint with `getWrites`. */
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
  /**
   * Whether the caller handles `writes_apart`. For other callers, reading a checkpoint too large for one
   * message fails.
   */
  apart?: boolean | undefined;
};

/** One page of a listing. A page that is short or even empty need not be the last one. */
export type CheckpointPage = {
  checkpoints: StoredCheckpoint[];
  /** The `before` of the next page; null when this page is the last. */
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
 * Maximum bytes of a checkpoint with all its channel values, and also of all its pending writes together.
 * Each of the two is read in one RPC message, which carries at most 32 MiB.
 */
export const MAX_CHECKPOINT_BYTES = 30 * 1024 * 1024;

/** Maximum number of checkpoints that one page can be asked for. */
export const MAX_CHECKPOINT_PAGE = 100;

/** A port that also accepts writes outside a run (state updates). */
export interface WritableCheckpointPort extends CheckpointPort {
  save(batch: CheckpointBatch): Promise<void>;
}

/**
 * One operation on checkpoints. Operations are kept in the order in which they were made: a checkpoint
 * precedes the writes that belong to it.
 */
export type CheckpointOp = { put: CheckpointPut } | { writes: WritesPut };

export type CheckpointBatch = CheckpointOp[];
