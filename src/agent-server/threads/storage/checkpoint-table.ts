import {
  type CheckpointBatch,
  type CheckpointPut,
  type CheckpointQuery,
  MAX_CHECKPOINT_BYTES,
  type StoredCheckpoint,
  type SerializedValue,
} from "../../../graph-runtime/checkpoint-port.ts";
import { type CheckpointCopy, readCheckpoints, writeCheckpoints } from "./checkpoint-copy.ts";
import {
  CHECKPOINT_COLUMNS,
  CheckpointPages,
  type CheckpointRow,
  parseMetadata,
  type ReadPage,
  writeBytes,
} from "./checkpoint-pages.ts";
import { PruneCheckpoints } from "./prune-checkpoints.ts";
import { splitValues, unpackValues } from "./packed-values.ts";
import { RunCheckpoints } from "./run-checkpoints.ts";
import type { ThreadTables } from "./thread-tables.ts";
import { ValueTable } from "./value-table.ts";
import { KnownWrites, WriteTable } from "./write-table.ts";

/**
 * Maximum bytes of a checkpoint that is sent along with a run, whose input shares the message. The graph host
 * requests a larger one.
 */
const MAX_START_BYTES = 8 * 1024 * 1024;

/**
 * A thread's checkpoints and pending writes. A checkpoint stores only the channel values that it changed and, for
 * each other channel, the ancestor that wrote the inherited value. This lineage identifies a value, and not the
 * channel's version number: two branches that are forked from one checkpoint count versions alike, but must not
 * share values.
 */
export class CheckpointTable {
  readonly #sql: SqlStorage;
  readonly #tables: ThreadTables;
  readonly #pages: CheckpointPages;
  readonly #values: ValueTable;
  readonly #writes: WriteTable;
  readonly #runs: RunCheckpoints;
  /** The lineage of the checkpoint that was written last, which is usually the parent of the next one. */
  #latest: { ns: string; id: string; sources: Record<string, string> } | null = null;
  /** Whether the table is known to be empty without reading it. */
  #isEmpty = false;

  constructor(sql: SqlStorage, tables: ThreadTables) {
    this.#sql = sql;
    this.#tables = tables;
    this.#pages = new CheckpointPages(sql, (row, options) => this.#readable(row, options));
    this.#values = new ValueTable(sql, tables);
    this.#writes = new WriteTable(sql);
    this.#runs = new RunCheckpoints(sql, this.#values);
  }

  startEmpty(): void {
    this.#isEmpty = true;
  }

  reset(): void {
    this.#isEmpty = false;
    this.#latest = null;
  }

  /** Writes in the given order. Must be called in a transaction. `runId` is null for state updates. */
  apply(batch: CheckpointBatch, runId: string | null): void {
    // If the transaction is rolled back, the remembered lineage would refer to rows that do not exist.
    this.#latest = null;
    const known = this.#isEmpty ? new KnownWrites() : null;
    this.#isEmpty = false;
    for (const op of batch) {
      if ("put" in op) this.#put(op.put, runId);
      else this.#writes.put(op.writes, runId, known);
    }
    if (runId !== null) this.#runs.note(batch, runId);
  }

  /** Returns the newest root checkpoint; null if there is none or it is too large to be sent along. */
  start(): StoredCheckpoint | null {
    const row = this.#find("", null);
    return row === undefined ? null : this.#load(row, MAX_START_BYTES);
  }

  /** Returns the checkpoint with this id, or the newest of the namespace. Throws if it is too large to be read. */
  get(ns: string, id: string | null, { apart = false } = {}): StoredCheckpoint | null {
    const row = this.#find(ns, id);
    return row === undefined ? null : this.#readable(row, { apart });
  }

  #find(ns: string, id: string | null): CheckpointRow | undefined {
    if (this.#isEmpty) return undefined;
    const [row] = (
      id === null
        ? this.#sql.exec<CheckpointRow>(
            `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE ns = ? ORDER BY id DESC LIMIT 1`,
            ns,
          )
        : this.#sql.exec<CheckpointRow>(
            `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE ns = ? AND id = ?`,
            ns,
            id,
          )
    ).toArray();
    return row;
  }

  /** Reads a page, the newest first; `filter` compares top-level metadata keys. A short page need not be the last. */
  page(query: CheckpointQuery): ReadPage {
    return this.#pages.read(query);
  }

  namespaces(): string[] {
    return this.#isEmpty ? [] : [...this.#pages.namespaces()];
  }

  /** Returns the id of the newest root checkpoint of the run, from which its result can be read later. */
  lastOfRun(runId: string): string | null {
    const [row] = this.#sql
      .exec<{ id: string }>(
        "SELECT id FROM checkpoints WHERE run_id = ? AND ns = '' ORDER BY id DESC LIMIT 1",
        runId,
      )
      .toArray();
    return row?.id ?? null;
  }

  /** Returns the newest root checkpoint that is not of this run, to which a rollback returns. */
  lastBefore(runId: string): { id: string; graphId: string | null } | null {
    const [row] = this.#sql
      .exec<{ id: string; metadata: ArrayBuffer }>(
        "SELECT id, metadata FROM checkpoints WHERE ns = '' AND run_id IS NOT ? ORDER BY id DESC LIMIT 1",
        runId,
      )
      .toArray();
    if (row === undefined) return null;
    return { id: row.id, graphId: graphOf(row.metadata) };
  }

  /** Returns the run that wrote the newest root checkpoint; null if a state update did, or there is none. */
  newestRun(): string | null {
    if (this.#isEmpty) return null;
    const [row] = this.#sql
      .exec<{ run_id: string | null }>(
        "SELECT run_id FROM checkpoints WHERE ns = '' ORDER BY id DESC LIMIT 1",
      )
      .toArray();
    return row?.run_id ?? null;
  }

  /** Returns all checkpoints for a copy of the thread; null if they are too many. */
  copied(): CheckpointCopy | null {
    return readCheckpoints(this.#sql, this.#tables);
  }

  /** Stores the checkpoints of another thread. Must be called in the transaction that creates the thread. */
  fill(copy: CheckpointCopy, threadId: string): void {
    this.#isEmpty = false;
    writeCheckpoints(this.#sql, this.#tables, copy, threadId);
  }

  /** Deletes what a run stored. Values that checkpoints of other runs inherit are kept. */
  deleteRun(runId: string): void {
    this.#latest = null;
    this.#runs.delete(runId);
  }

  /**
   * Removes some of the checkpoints that the thread does not continue from; returns false if there were none. Must
   * be called in a transaction.
   */
  prune(): boolean {
    this.#latest = null;
    return new PruneCheckpoints(this.#sql, this.#values).turn();
  }

  #put(put: CheckpointPut, runId: string | null): void {
    const sources = this.#inheritedSources(put);
    const { packed, apart } = splitValues(put.channels);
    for (const [channel] of put.channels) sources[channel] = put.id;
    for (const [channel, value] of apart) this.#values.set(put.ns, put.id, channel, value);
    this.#sql.exec(
      `INSERT OR REPLACE INTO checkpoints (${CHECKPOINT_COLUMNS}, run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      put.ns,
      put.id,
      put.parent_id,
      put.checkpoint[0],
      put.checkpoint[1],
      put.metadata[0],
      put.metadata[1],
      JSON.stringify(sources),
      put.format,
      packed,
      runId,
    );
    this.#latest = { ns: put.ns, id: put.id, sources };
  }

  #inheritedSources(put: CheckpointPut): Record<string, string> {
    const sources: Record<string, string> = {};
    if (put.parent_id === null) return sources;
    const inherited = this.#sourcesOf(put.ns, put.parent_id);
    for (const channel of put.inherited) {
      const source = inherited[channel];
      if (source !== undefined) sources[channel] = source;
    }
    return sources;
  }

  #sourcesOf(ns: string, id: string): Record<string, string> {
    if (this.#latest?.ns === ns && this.#latest.id === id) return this.#latest.sources;
    const [row] = this.#sql
      .exec<{ channels: string }>(
        "SELECT channels FROM checkpoints WHERE ns = ? AND id = ?",
        ns,
        id,
      )
      .toArray();
    return row === undefined ? {} : JSON.parse(row.channels);
  }

  /**
   * Returns the pending writes, in the order in which LangGraph applies those of a superstep. Throws if they are
   * too large.
   */
  writes(ns: string, checkpointId: string): StoredCheckpoint["writes"] {
    const writes = this.#writes.of(ns, checkpointId);
    if (writeBytes(writes) <= MAX_CHECKPOINT_BYTES) return writes;
    throw new Error(
      `Checkpoint ${checkpointId} cannot be read: its pending writes have more than ${MAX_CHECKPOINT_BYTES} bytes`,
    );
  }

  #readable(row: CheckpointRow, { apart }: { apart: boolean }): StoredCheckpoint {
    const stored = this.#load(row, MAX_CHECKPOINT_BYTES);
    if (stored === null) {
      throw new Error(
        `Checkpoint ${row.id} cannot be read: with its channel values it has more than ${MAX_CHECKPOINT_BYTES} bytes`,
      );
    }
    if (stored.writes_apart === undefined || apart) return stored;
    throw new Error(
      `Checkpoint ${row.id} cannot be read at once: with its pending writes it has more than ${MAX_CHECKPOINT_BYTES} bytes. Deploy the project again to have it read in parts.`,
    );
  }

  /**
   * Loads a checkpoint. If its writes would exceed `maxBytes`, they are left out; null if it is too large without
   * them.
   */
  #load(row: CheckpointRow, maxBytes: number): StoredCheckpoint | null {
    let bytes = row.checkpoint.byteLength + row.metadata.byteLength;
    const sources: Record<string, string> = JSON.parse(row.channels);
    const channels: StoredCheckpoint["channels"] = [];
    const packedOf = this.#packedValues(row);
    for (const [channel, source] of Object.entries(sources)) {
      const value = packedOf(source).get(channel) ?? this.#values.get(row.ns, source, channel);
      if (value === null) continue;
      bytes += value[1].byteLength;
      if (bytes > maxBytes) return null;
      channels.push([channel, value]);
    }
    const stored: StoredCheckpoint = {
      ns: row.ns,
      id: row.id,
      parent_id: row.parent_id,
      checkpoint: [row.checkpoint_type, new Uint8Array(row.checkpoint)],
      metadata: [row.metadata_type, new Uint8Array(row.metadata)],
      channels,
      writes: this.#writes.of(row.ns, row.id),
    };
    // Before checkpoint format 4 a parent's pending writes held the sends of its child.
    if (row.parent_id !== null && row.format < 4) {
      stored.parent_writes = this.#writes.of(row.ns, row.parent_id);
    }
    const { writes, parent_writes = [] } = stored;
    if (bytes + writeBytes(writes) + writeBytes(parent_writes) <= maxBytes) return stored;
    stored.writes = [];
    if (stored.parent_writes !== undefined) stored.parent_writes = [];
    stored.writes_apart = true;
    return stored;
  }

  /** Returns a function that reads the values in the row of a source checkpoint. Each row is read once. */
  #packedValues({
    ns,
    id,
    packed,
  }: CheckpointRow): (source: string) => Map<string, SerializedValue> {
    const known = new Map([[id, valuesIn(packed)]]);
    return (source) => {
      const read = known.get(source) ?? valuesIn(this.#packedOf(ns, source));
      known.set(source, read);
      return read;
    };
  }

  #packedOf(ns: string, id: string): ArrayBuffer | null {
    const [row] = this.#sql
      .exec<{ packed: ArrayBuffer | null }>(
        "SELECT packed FROM checkpoints WHERE ns = ? AND id = ?",
        ns,
        id,
      )
      .toArray();
    return row?.packed ?? null;
  }
}

function valuesIn(packed: ArrayBuffer | null): Map<string, SerializedValue> {
  return new Map(packed === null ? [] : unpackValues(packed));
}

/** Returns null if deployed code has stored metadata that LangGraph never would. */
function graphOf(metadata: ArrayBuffer): string | null {
  try {
    const { graph_id } = parseMetadata(metadata);
    return typeof graph_id === "string" ? graph_id : null;
  } catch {
    return null;
  }
}
