import { hasTables, migrateTables } from "../../lib/object-migrations.ts";
import { FreeKeys } from "./free-keys.ts";
import { OldRuns } from "./move-old-runs.ts";
import { type PendingLimits, PendingRuns } from "./pending-runs.ts";
import { RunSegments } from "./segments/run-segments.ts";
import type { ShardRef } from "./shard-ref.ts";
import { ShardSettings } from "./shard-settings.ts";
import { SHARD_MIGRATIONS, SHARD_SCHEMA } from "./tables.ts";

/** The database of one shard. Its tables are created with the first write. */
export class ShardDatabase {
  readonly sql: SqlStorage;
  readonly settings: ShardSettings;
  readonly segments: RunSegments;
  readonly pending: PendingRuns;
  readonly keys = new FreeKeys();
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

  /** Resolves once no run is left in the tables of an earlier version. Must be awaited before anything else. */
  async moved(): Promise<void> {
    if (this.#oldRuns === null) return;
    this.#moving ??= this.#moveAll(this.#oldRuns).finally(() => {
      this.#moving = null;
    });
    await this.#moving;
  }

  async #moveAll(oldRuns: OldRuns): Promise<void> {
    // Between two turns, the changes go to disk, and other requests of the isolate have their turns.
    while (!this.transaction(() => oldRuns.moveSome())) await this.#storage.sync();
    this.#oldRuns = null;
  }

  /** Whether the tables exist; without them no statement can be run. */
  get exists(): boolean {
    return this.#exists;
  }

  /** Makes all of a change or none of it; after a rollback, it forgets what is in memory of the change. */
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

  /** Creates the tables unless they exist. Must be called inside of a transaction. */
  open(ref: ShardRef): void {
    if (this.#exists) return;
    migrateTables(this.#storage, SHARD_MIGRATIONS, SHARD_SCHEMA);
    this.settings.ref = ref;
    this.#exists = true;
  }

  /** Deletes everything, including the alarm. */
  async erase(): Promise<void> {
    this.#exists = false;
    this.segments.reset();
    this.pending.reset();
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }
}
