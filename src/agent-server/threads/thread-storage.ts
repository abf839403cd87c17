import { CheckpointTable } from "./checkpoint-table.ts";
import { EventLog } from "./event-log.ts";
import { RunTable } from "./run-table.ts";
import { Texts } from "./texts.ts";
import { ThreadRecord } from "./thread-record.ts";
import { migrateTables } from "../../lib/object-migrations.ts";
import { THREAD_MIGRATIONS } from "./thread-schema.ts";

/** The tables of one thread, and the one way to change several of them at once. */
export class ThreadStorage {
  readonly texts: Texts;
  readonly thread: ThreadRecord;
  readonly runs: RunTable;
  readonly checkpoints: CheckpointTable;
  readonly log: EventLog;
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    const { sql } = storage;
    this.#storage = storage;
    this.texts = new Texts(sql);
    this.thread = new ThreadRecord(sql, this.texts);
    this.runs = new RunTable(sql);
    this.checkpoints = new CheckpointTable(sql);
    this.log = new EventLog(sql);
  }

  migrate(): void {
    migrateTables(this.#storage, THREAD_MIGRATIONS);
  }

  /** All or nothing; synchronous, so that nothing else runs in between. */
  transaction<T>(change: () => T): T {
    try {
      return this.#storage.transactionSync(() => {
        const result = change();
        this.thread.flush();
        return result;
      });
    } catch (error) {
      this.thread.reset();
      this.runs.reset();
      throw error;
    }
  }

  async erase(): Promise<void> {
    this.thread.erased();
    this.runs.reset();
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }

  /** Resolves when everything written so far is on disk. */
  async durable(): Promise<void> {
    await this.#storage.sync();
  }
}
