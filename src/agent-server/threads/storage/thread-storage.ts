import { CheckpointTable } from "./checkpoint-table.ts";
import { EventLog } from "./event-log.ts";
import { RunTable } from "./run-table.ts";
import { TextTable } from "./text-table.ts";
import { ThreadRecord } from "./thread-record.ts";
import { TurnTable } from "./turn-table.ts";
import { ThreadTables } from "./thread-tables.ts";

/** A table that need not be read to know that it has no rows, or not the ones that are asked for. */
type RememberingTable = {
  /** It was made just now, in this transaction. */
  startEmpty: () => void;
  /** Forgets what is held in memory, after a transaction that failed. */
  reset: () => void;
};

/** The tables of one thread, and the one way to change several of them at once. */
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
  /** Within a transaction, as one may be made of others. */
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

  /** False for a thread that was never made, or is gone: nothing but `makeTables` may be called then. */
  get exists(): boolean {
    return this.#tables.exist;
  }

  /** Makes the tables that are missing. Call it in the transaction that makes the thread, or they stay without it. */
  makeTables(): void {
    const areNew = this.#tables.prepare(this.#storage);
    if (areNew) for (const table of this.#remembering) table.startEmpty();
  }

  /**
   * Makes all of a change or nothing. It is synchronous, so that nothing else runs in between. Within another one it is
   * part of that.
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
