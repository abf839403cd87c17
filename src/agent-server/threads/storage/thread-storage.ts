import { CheckpointTable } from "./checkpoint-table.ts";
import { EventLog } from "./event-log.ts";
import { RunTable } from "./run-table.ts";
import { TextTable } from "./text-table.ts";
import { ThreadRecord } from "./thread-record.ts";
import { TurnTable } from "./turn-table.ts";
import { ThreadTables } from "./thread-tables.ts";

/** A table that may know from memory that it is empty, or that it does not have the requested rows. */
type RememberingTable = {
  /** Must be called when the table was just created, in this transaction. */
  startEmpty: () => void;
  /** Clears the cache in memory, after a failed transaction. */
  reset: () => void;
};

/** The tables of one thread, and the transactions that change several of them at once. */
export class ThreadStorage {
  readonly texts: TextTable;
  readonly thread: ThreadRecord;
  readonly runs: RunTable;
  readonly checkpoints: CheckpointTable;
  readonly log: EventLog;
  readonly turns: TurnTable;
  readonly #storage: DurableObjectStorage;
  readonly #tables: ThreadTables;
  readonly #remembering: readonly RememberingTable[];
  /** Whether a transaction is active, because transactions can be nested. */
  #isChanging = false;

  constructor(storage: DurableObjectStorage) {
    const { sql } = storage;
    this.#storage = storage;
    this.#tables = new ThreadTables(sql);
    this.texts = new TextTable(sql);
    this.thread = new ThreadRecord(sql, this.texts);
    this.runs = new RunTable(sql);
    this.checkpoints = new CheckpointTable(sql, this.#tables);
    this.log = new EventLog(sql, this.#tables);
    this.turns = new TurnTable(sql, this.#tables);
    this.#remembering = [this.texts, this.runs, this.checkpoints];
    if (this.exists) this.makeTables();
  }

  /** False for a thread that was never created, or was removed: only `makeTables` may be called then. */
  get exists(): boolean {
    return this.#tables.exist;
  }

  /**
   * Creates the missing tables. Must be called in the transaction that creates the thread, or the tables would be
   * left without one.
   */
  makeTables(): void {
    const areNew = this.#tables.prepare(this.#storage);
    if (areNew) for (const table of this.#remembering) table.startEmpty();
  }

  /**
   * Makes all changes or none. It is synchronous, so that nothing else runs in between. A nested transaction is
   * part of the outer one.
   */
  transaction<T>(change: () => T): T {
    if (this.#isChanging) return change();
    this.#isChanging = true;
    try {
      const done = this.#storage.transactionSync(() => {
        const result = change();
        this.thread.flush();
        return result;
      });
      this.log.committed();
      return done;
    } catch (error) {
      this.#tables.reset();
      for (const table of this.#remembering) table.reset();
      this.thread.reset();
      this.log.reset();
      throw error;
    } finally {
      this.#isChanging = false;
    }
  }

  async erase(): Promise<void> {
    this.#tables.erased();
    for (const table of this.#remembering) table.reset();
    this.thread.erased();
    this.log.erased();
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }

  /** Resolves when everything written so far is on disk. */
  async durable(): Promise<void> {
    await this.#storage.sync();
  }
}
