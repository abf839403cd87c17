import type { RunEvent } from "../../../graph-runtime/protocol.ts";
import type { LoggedEvent } from "./event-frames.ts";
import { EventPages } from "./event-pages.ts";
import type { ThreadTables } from "./thread-tables.ts";

/** One read stops after the event that crosses this: what a reader holds in memory. */
const READ_CHARS = 256 * 1024;

/** How much of a run's events is in memory only; beyond, they are written for those who come late. */
const HELD_CHARS = 1024 * 1024;

/** Ids that a run may give to events in memory before its row has to say so. */
const RESERVED_IDS = 1024;

/** What is known of a run's events in memory, which come behind those on disk. */
type Held = {
  /** The id that the next event will have. */
  next: number;
  /** Ids before it are never given again, also when what has them is lost. */
  reserved: number;
  events: LoggedEvent[];
  chars: number;
};

/**
 * The append-only events of a thread's runs. Ids are integers from 0, per run, in their order. Events that nobody is
 * promised after the run are in memory, and what a crash takes of them leaves a gap: its ids are not given again.
 */
export class EventLog {
  readonly #sql: SqlStorage;
  readonly #pages: EventPages;
  readonly #held = new Map<number, Held>();
  /** What was in memory before the transaction that goes on. */
  #before = new Map<number, Held | null>();

  constructor(sql: SqlStorage, tables: ThreadTables) {
    this.#sql = sql;
    this.#pages = new EventPages(sql, tables);
  }

  /** Appends events, and returns the id that the next one will have. Call it in a transaction. */
  append(
    runSeq: number,
    events: readonly RunEvent[],
    { now, stored }: { now: number; stored: boolean },
  ): number {
    const held = this.#change(runSeq);
    for (const { event, data } of events) {
      held.events.push({ id: held.next, event, data, at: now });
      held.chars += event.length + data.length;
      held.next += 1;
    }
    if (stored || held.chars > HELD_CHARS) this.store(runSeq);
    else if (held.next > held.reserved) this.#reserve(runSeq, held);
    return held.next;
  }

  #reserve(runSeq: number, held: Held): void {
    held.reserved = held.next + RESERVED_IDS;
    this.#sql.exec("UPDATE runs SET next_event = ? WHERE seq = ?", held.reserved, runSeq);
  }

  /**
   * An attempt begins. Returns what the run's row has to say by then: ids before it are never given again. Call it in the
   * transaction that writes that row, `isNew` before the row is there.
   */
  begin(runSeq: number, { stored, isNew }: { stored: boolean; isNew: boolean }): number {
    const held = this.#change(runSeq, { isNew });
    held.reserved = stored ? held.next : held.next + RESERVED_IDS;
    return held.reserved;
  }

  /** Writes what is in memory only. Call it in a transaction. */
  store(runSeq: number): void {
    if ((this.#held.get(runSeq)?.events.length ?? 0) === 0) return;
    const held = this.#change(runSeq);
    this.#pages.write(runSeq, held.events);
    held.events = [];
    held.chars = 0;
  }

  /** The next id must not fall back when the events are gone: the run's row says how far it may have come. */
  nextId(runSeq: number): number {
    return this.#held.get(runSeq)?.next ?? this.#storedNext(runSeq);
  }

  /** Some of the run's events are on disk. */
  hasStored(runSeq: number): boolean {
    return this.#pages.end(runSeq) > 0;
  }

  /** Events after `after` and before `before`, oldest first; a page, which ends before a gap. */
  read(runSeq: number, after: number, before: number): LoggedEvent[] {
    const events: LoggedEvent[] = [];
    let chars = 0;
    for (const logged of this.#after(runSeq, after)) {
      if (logged.id >= before || chars > READ_CHARS) break;
      const previous = events.at(-1);
      if (previous !== undefined && logged.id > previous.id + 1) break;
      events.push(logged);
      chars += logged.data.length;
    }
    return events;
  }

  *#after(runSeq: number, after: number): Generator<LoggedEvent> {
    const held = this.#held.get(runSeq)?.events ?? [];
    const [first] = held;
    if (first === undefined || first.id > after + 1) {
      for (const page of this.#pages.read(runSeq, after)) yield* page;
    }
    // Ids in memory have no gap.
    const start = first === undefined ? 0 : Math.max(0, after + 1 - first.id);
    for (let index = start; index < held.length; index += 1) {
      const logged = held[index];
      if (logged !== undefined) yield logged;
    }
  }

  /** Removes the run's events. Call it in a transaction. */
  delete(runSeq: number): void {
    this.#remember(runSeq);
    this.#held.delete(runSeq);
    this.#pages.delete(runSeq);
  }

  /** Forgets what is in memory of runs that have ended, apart from those that are still read. */
  forgetEnded(isNeeded: (runSeq: number) => boolean): void {
    for (const runSeq of this.#held.keys()) if (!isNeeded(runSeq)) this.#held.delete(runSeq);
  }

  /** What was changed since the last transaction stays. */
  committed(): void {
    if (this.#before.size > 0) this.#before = new Map();
  }

  /** Takes back what was changed by a transaction that failed. */
  reset(): void {
    for (const [runSeq, held] of this.#before) {
      if (held === null) this.#held.delete(runSeq);
      else this.#held.set(runSeq, held);
    }
    this.#before = new Map();
  }

  erased(): void {
    this.#held.clear();
    this.#before = new Map();
  }

  #change(runSeq: number, { isNew = false } = {}): Held {
    this.#remember(runSeq);
    const known = this.#held.get(runSeq);
    if (known !== undefined) return known;
    const next = isNew ? 0 : this.#storedNext(runSeq);
    const held = { next, reserved: next, events: [], chars: 0 };
    this.#held.set(runSeq, held);
    return held;
  }

  #remember(runSeq: number): void {
    if (this.#before.has(runSeq)) return;
    const held = this.#held.get(runSeq);
    this.#before.set(runSeq, held === undefined ? null : { ...held, events: [...held.events] });
  }

  #storedNext(runSeq: number): number {
    const [row] = this.#sql
      .exec<{ next_event: number }>("SELECT next_event FROM runs WHERE seq = ?", runSeq)
      .toArray();
    return Math.max(row?.next_event ?? 0, this.#pages.end(runSeq));
  }
}
