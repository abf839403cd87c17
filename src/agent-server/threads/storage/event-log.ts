import type { RunEvent } from "../../../graph-runtime/protocol.ts";
import type { LoggedEvent } from "./event-frames.ts";
import { textParts } from "./row-parts.ts";

type EventRow = LoggedEvent & { part: number };

/** One read stops after the event that crosses this: what a reader holds in memory. */
const READ_CHARS = 256 * 1024;

/** The append-only events of a thread's runs. Ids are integers from 0, per run, without gaps. */
export class EventLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Appends events, and returns the id that the next one will have. Call it in a transaction. */
  append(runSeq: number, events: readonly RunEvent[], now: number): number {
    let id = this.nextId(runSeq);
    if (events.length === 0) return id;
    for (const { event, data } of events) {
      for (const [part, text] of textParts(data).entries()) {
        this.#sql.exec(
          "INSERT INTO events (run_seq, id, part, event, data, at) VALUES (?, ?, ?, ?, ?, ?)",
          runSeq,
          id,
          part,
          event,
          text,
          now,
        );
      }
      id += 1;
    }
    this.#sql.exec("UPDATE runs SET next_event = ? WHERE seq = ?", id, runSeq);
    return id;
  }

  /** The next id is kept in the run's row, because it must not fall back when the events are gone. */
  nextId(runSeq: number): number {
    const [row] = this.#sql
      .exec<{ next_event: number }>("SELECT next_event FROM runs WHERE seq = ?", runSeq)
      .toArray();
    return row?.next_event ?? 0;
  }

  /** Events after `after` and before `before`, oldest first; a page, never cut inside an event. */
  read(runSeq: number, after: number, before: number): LoggedEvent[] {
    const rows = this.#sql.exec<EventRow>(
      `SELECT id, part, event, data, at FROM events
       WHERE run_seq = ? AND id > ? AND id < ? ORDER BY id, part`,
      runSeq,
      after,
      // SQLite has no infinity to compare an integer with.
      Math.min(before, Number.MAX_SAFE_INTEGER),
    );
    const events: LoggedEvent[] = [];
    let chars = 0;
    for (const { id, part, event, data, at } of rows) {
      const previous = events.at(-1);
      if (part > 0 && previous !== undefined) previous.data += data;
      else if (chars > READ_CHARS) break;
      else events.push({ id, event, data, at });
      chars += data.length;
    }
    return events;
  }

  delete(runSeq: number): void {
    this.#sql.exec("DELETE FROM events WHERE run_seq = ?", runSeq);
  }
}
