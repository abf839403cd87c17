import type { DayMessages } from "./day-messages.ts";
import { WAIT_MS } from "./pending-runs.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { deleteTraceRows } from "./trace-table.ts";
import { writeWaiting } from "./write-runs.ts";

/**
 * All reads and deletions of a shard go through here. Runs that wait for their updates become rows before that, so
 * that only the code that writes runs has to know of waiting runs.
 */
export class ShardGate {
  readonly #db: ShardDatabase;
  readonly #messages: DayMessages;
  readonly #onTold: () => void;

  /** `onTold` is called if settled runs have caused messages for other shards. */
  constructor(db: ShardDatabase, messages: DayMessages, onTold: () => void) {
    this.#db = db;
    this.#messages = messages;
    this.#onTold = onTold;
  }

  /** Returns what is read of the shard once every run is in place; `none` if the shard is empty. */
  async read<T>(none: T, read: (db: ShardDatabase) => T): Promise<T> {
    await this.#db.moved();
    if (!this.#db.exists) return none;
    this.settle();
    return read(this.#db);
  }

  /** Makes a change that needs every run to be in place, all in one transaction. */
  change<T>(change: () => T): T {
    return this.#db.transaction(() => {
      this.settle();
      return change();
    });
  }

  /**
   * Deletes all of these traces. That comes before other runs are settled, so that there is room for them if the shard
   * is full.
   */
  deleteTraces(traceIds: readonly string[]): void {
    this.#db.transaction(() => {
      this.#db.pending.discard(traceIds);
      deleteTraceRows(this.#db.sql, traceIds);
      this.settle();
    });
  }

  /**
   * Settles runs that have waited for half of the maximum time. Because the alarm does this, it fires no more than
   * twice in that time, however many requests wait.
   */
  settleOld(nowMs: number): void {
    this.settle((nowMs - WAIT_MS / 2) * 1000);
  }

  /** Makes rows of all waiting runs, or of those received at this time or before, in microseconds. */
  settle(until = Infinity): void {
    const db = this.#db;
    if (!db.exists || db.pending.isEmpty()) return;
    const told = db.transaction(() => {
      const context = { db, day: db.settings.ref.day, now: Date.now() * 1000 };
      const foreign = writeWaiting(context, db.pending.takeReceived(until));
      this.#messages.tellParents(foreign);
      return foreign.length;
    });
    if (told > 0) this.#onTold();
  }
}
