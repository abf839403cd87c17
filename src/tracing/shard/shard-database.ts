import { hasTables, migrateTables } from "../../lib/object-migrations.ts";
import { OldRuns } from "./move-old-runs.ts";
import { type PendingLimits, PendingRuns } from "./pending-runs.ts";
import { RunSegments } from "./segments/run-segments.ts";
import type { ShardRef } from "./shard-ref.ts";
import { ShardSettings } from "./shard-settings.ts";
import { SHARD_MIGRATIONS, SHARD_SCHEMA } from "./tables.ts";

/** The database of one shard, whose tables are made when the first thing is written to it. */
export class ShardDatabase {
  readonly sql: SqlStorage;
  readonly settings: ShardSettings;
  readonly segments: RunSegments;
  readonly pending: PendingRuns;
  readonly #storage: DurableObjectStorage;
  #exists: boolean;
  #oldRuns: OldRuns | null = null;
  #moving: Promise<void> | null = null;

  constructor(storage: DurableObjectStorage, limits?: PendingLimits) {
    this.#storage = storage;
    this.sql = storage.sql;
    this.settings = new ShardSettings(this.sql);
    this.segments = new RunSegments(this.sql);
    this.pending = new PendingRuns(this.sql, this.segments, limits);
    this.#exists = hasTables(this.sql);
    if (!this.#exists) return;
    migrateTables(storage, SHARD_MIGRATIONS, SHARD_SCHEMA);
    const oldRuns = new OldRuns(this.sql, this.segments, this.settings);
    if (oldRuns.exist) this.#oldRuns = oldRuns;
  }

  /** Resolves when no run is left in the tables of an earlier version; to be awaited before anything is done. */
  async moved(): Promise<void> {
    if (this.#oldRuns === null) return;
    this.#moving ??= this.#moveAll(this.#oldRuns).finally(() => {
      this.#moving = null;
    });
    await this.#moving;
  }

  async #moveAll(oldRuns: OldRuns): Promise<void> {
    // Between two turns what was written goes to disk, and others of the isolate have theirs.
    while (!this.transaction(() => oldRuns.moveSome())) await this.#storage.sync();
    this.#oldRuns = null;
  }

  /** Whether there is anything; without tables no statement can be run. */
  get exists(): boolean {
    return this.#exists;
  }

  /** All of a change or nothing; what is remembered of a change that was rolled back is forgotten. */
  transaction<T>(change: () => T): T {
    const existed = this.#exists;
    try {
      return this.#storage.transactionSync(change);
    } catch (error) {
      this.#exists = existed;
      this.segments.reset();
      this.pending.reset();
      throw error;
    }
  }

  /** Makes the tables, unless they are there; inside of a transaction. */
  open(ref: ShardRef): void {
    if (this.#exists) return;
    migrateTables(this.#storage, SHARD_MIGRATIONS, SHARD_SCHEMA);
    this.settings.ref = ref;
    this.#exists = true;
  }

  /** Deletes everything, the alarm too. */
  async erase(): Promise<void> {
    this.#exists = false;
    this.segments.reset();
    this.pending.reset();
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }
}
