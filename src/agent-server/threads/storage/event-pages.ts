import { textParts } from "./row-parts.ts";
import type { LoggedEvent } from "./event-frames.ts";
import type { ThreadTables } from "./thread-tables.ts";

type PageRow = { id: number; part: number; event: string; data: string; at: number | null } & {
  count: number | null;
};

const TABLE = "events";

/** Maximum characters in one row, because reading one event of a page reads the whole row. */
const PAGE_CHARS = 256 * 1024;

/**
 * Events on disk. Events that are written together share a row under the id of the first: a first line of JSON
 * describes each of them, followed by their data. An event that is alone or larger than a page has its own row, in
 * several parts if necessary.
 */
export class EventPages {
  readonly #sql: SqlStorage;
  readonly #tables: ThreadTables;

  constructor(sql: SqlStorage, tables: ThreadTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  /** Writes events without a gap between them. Must be called in a transaction. */
  write(runSeq: number, events: readonly LoggedEvent[]): void {
    this.#tables.need(TABLE);
    for (const page of pagesOf(events)) {
      const [first] = page;
      if (first === undefined) continue;
      if (page.length === 1) this.#insert(runSeq, first, null);
      else this.#insert(runSeq, { ...first, event: "", data: packed(page) }, page.length);
    }
  }

  #insert(runSeq: number, { id, event, data, at }: LoggedEvent, count: number | null): void {
    for (const [part, text] of textParts(data).entries()) {
      this.#sql.exec(
        "INSERT INTO events (run_seq, id, part, event, data, at, count) VALUES (?, ?, ?, ?, ?, ?, ?)",
        runSeq,
        id,
        part,
        event,
        text,
        at,
        count,
      );
    }
  }

  /** Yields the events after `after`, the oldest first, a row at a time. */
  *read(runSeq: number, after: number): Generator<LoggedEvent[]> {
    if (!this.#tables.has(TABLE)) return;
    // The page that contains `after` may have further events.
    const rows = this.#sql.exec<PageRow>(
      `SELECT id, part, event, data, at, count FROM events WHERE run_seq = ?1 AND id >= coalesce(
         (SELECT max(id) FROM events WHERE run_seq = ?1 AND id <= ?2), 0) ORDER BY id, part`,
      runSeq,
      after + 1,
    );
    let page: PageRow | null = null;
    for (const row of rows) {
      if (row.part > 0 && page !== null) {
        page.data += row.data;
        continue;
      }
      if (page !== null) yield eventsOf(page).filter(({ id }) => id > after);
      page = row;
    }
    if (page !== null) yield eventsOf(page).filter(({ id }) => id > after);
  }

  /** Returns the id after the last event; 0 if there is none. */
  end(runSeq: number): number {
    if (!this.#tables.has(TABLE)) return 0;
    const [last] = this.#sql
      .exec<{ id: number; count: number | null }>(
        "SELECT id, count FROM events WHERE run_seq = ? ORDER BY id DESC LIMIT 1",
        runSeq,
      )
      .toArray();
    return last === undefined ? 0 : last.id + (last.count ?? 1);
  }

  delete(runSeq: number): void {
    if (!this.#tables.has(TABLE)) return;
    this.#sql.exec("DELETE FROM events WHERE run_seq = ?", runSeq);
  }
}

function* pagesOf(events: readonly LoggedEvent[]): Generator<LoggedEvent[]> {
  let page: LoggedEvent[] = [];
  let chars = 0;
  for (const event of events) {
    if (page.length > 0 && chars + event.data.length > PAGE_CHARS) {
      yield page;
      page = [];
      chars = 0;
    }
    page.push(event);
    chars += event.data.length;
  }
  yield page;
}

type Packed = [event: string, chars: number, at: number | null];

function packed(page: readonly LoggedEvent[]): string {
  const heads = page.map(({ event, data, at }): Packed => [event, data.length, at]);
  return `${JSON.stringify(heads)}\n${page.map(({ data }) => data).join("")}`;
}

function eventsOf({ id, event, data, at, count }: PageRow): LoggedEvent[] {
  if (count === null) return [{ id, event, data, at }];
  let start = data.indexOf("\n") + 1;
  const heads: Packed[] = JSON.parse(data.slice(0, start));
  return heads.map(([name, chars, loggedAt], index) => {
    const text = data.slice(start, start + chars);
    start += chars;
    return { id: id + index, event: name, data: text, at: loggedAt };
  });
}
