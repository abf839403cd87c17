import type { DayMessages } from "./day-messages.ts";
import { WAIT_MS } from "./pending-runs.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { deleteTraceRows } from "./trace-table.ts";
import { writeWaiting } from "./write-runs.ts";

/**
 * The way of all that reads a shard, or deletes from it: runs that wait for their updates become rows before, so that
 * nobody but what writes runs has to know that there are such.
 */
export class ShardGate {
  readonly #db: ShardDatabase;
  readonly #messages: DayMessages;
  readonly #onTold: () => void;

  /** `onTold` is called when there are messages for other shards by what was settled. */
  constructor(db: ShardDatabase, messages: DayMessages, onTold: () => void) {
    this.#db = db;
    this.#messages = messages;
    this.#onTold = onTold;
  }

  /** What is read of the shard when every run is in place; `none` when the shard has nothing at all. */
  async read<T>(none: T, read: (db: ShardDatabase) => T): Promise<T> {
    await this.#db.moved();
    if (!this.#db.exists) return none;
    this.settle();
    return read(this.#db);
  }

  /** A change for which every run has to be in place: both are one transaction. */
  change<T>(change: () => T): T {
    return this.#db.transaction(() => {
      this.settle();
      return change();
    });
  }

  /**
   * Deletes all of these traces. It comes before the others' runs are settled, so that there is room for those where
   * the shard is full.
   */
  deleteTraces(traceIds: readonly string[]): void {
    this.#db.transaction(() => {
      this.#db.pending.discard(traceIds);
      deleteTraceRows(this.#db.sql, traceIds);
      this.settle();
    });
  }

  /**
   * Settles what has waited for half as long as it may: as the alarm does that, one comes no more often than twice
   * in that time, however many requests wait.
   */
  settleOld(nowMs: number): void {
    this.settle((nowMs - WAIT_MS / 2) * 1000);
  }

  /** Makes rows of all runs that wait, or of those that came at this time or before, in microseconds. */
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
