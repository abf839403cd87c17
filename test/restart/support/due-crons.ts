import { DatabaseSync } from "node:sqlite";
import type { CronTick } from "../../../src/lib/cron-tick.ts";
import { indexFileOf } from "../../support/index-file.ts";

const MINUTE_MS = 60_000;

/** Makes ticks of crons due without waiting for their minutes, and remembers them. */
export class DueCrons {
  readonly ticks: CronTick[] = [];
  readonly #file: string;
  /**
   * The time of the next tick, long ago: the time that a sweep notes after a tick is later than all
   * ticks made here.
   */
  #next: number;

  constructor(stateDir: string, now: number) {
    this.#file = indexFileOf(stateDir);
    this.#next = Math.floor(now / MINUTE_MS) * MINUTE_MS - 30 * 24 * 60 * MINUTE_MS;
  }

  /**
   * Gives another tick to each cron whose last one is noted. Must be called while no Worker runs, as a Worker does not
   * wait for a lock.
   */
  tick(): void {
    this.#open({ readOnly: false }, (database) => {
      const noted = database
        .prepare("SELECT cron_id FROM crons WHERE next_run_at > ? ORDER BY cron_id")
        .all(this.#next);
      const make = database.prepare(
        "UPDATE crons SET next_run_at = ?1, due_at = ?1, lease = NULL WHERE cron_id = ?2",
      );
      for (const { cron_id } of noted) {
        const cronId = String(cron_id);
        this.#next += MINUTE_MS;
        make.run(this.#next, cronId);
        this.ticks.push({ cronId, at: this.#next });
      }
    });
  }

  /** Returns the number of crons with a tick that is not noted yet. */
  waiting(): number {
    return this.#open({ readOnly: true }, (database) => {
      const count = database.prepare("SELECT count(*) AS n FROM crons WHERE next_run_at <= ?");
      return Number(count.get(this.#next)?.["n"]);
    });
  }

  #open<T>(options: { readOnly: boolean }, work: (database: DatabaseSync) => T): T {
    const database = new DatabaseSync(this.#file, { ...options, timeout: 10_000 });
    try {
      return work(database);
    } finally {
      database.close();
    }
  }
}
