import { hasTables, migrateTables } from "../../lib/object-migrations.ts";
import { RunSegments } from "./segments/run-segments.ts";
import type { ShardRef } from "./shard-ref.ts";
import { ShardSettings } from "./shard-settings.ts";
import { SHARD_MIGRATIONS } from "./tables.ts";

/** The database of one shard, whose tables are made when the first thing is written to it. */
export class ShardDatabase {
  readonly sql: SqlStorage;
  readonly settings: ShardSettings;
  readonly segments: RunSegments;
  readonly #storage: DurableObjectStorage;
  #exists: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.sql = storage.sql;
    this.settings = new ShardSettings(this.sql);
    this.segments = new RunSegments(this.sql);
    this.#exists = hasTables(this.sql);
    if (this.#exists) migrateTables(storage, SHARD_MIGRATIONS);
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
      throw error;
    }
  }

  /** Makes the tables, unless they are there; inside of a transaction. */
  open(ref: ShardRef): void {
    if (this.#exists) return;
    migrateTables(this.#storage, SHARD_MIGRATIONS);
    this.settings.ref = ref;
    this.#exists = true;
  }

  /** Deletes everything, the alarm too. */
  async erase(): Promise<void> {
    this.#exists = false;
    this.segments.reset();
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }
}
