import type { RunEvent } from "../../../graph-runtime/protocol.ts";
import type { LoggedEvent } from "./event-frames.ts";
import { EventPages } from "./event-pages.ts";
import type { ThreadTables } from "./thread-tables.ts";

/**
 * Characters after which a read stops, which limits what a reader holds in memory. The event that exceeds it is
 * included.
 */
const READ_CHARS = 256 * 1024;

/** Maximum characters of a run's events that are in memory only; beyond this they are written for late readers. */
const HELD_CHARS = 1024 * 1024;

/** Number of ids that a run can assign to events in memory before the next reservation is written to its row. */
const RESERVED_IDS = 1024;

/** A run's events in memory, which come after those on disk. */
type Held = {
  /** The id of the next event. */
  next: number;
  /** Ids before this one are never assigned again, even if their events are lost. */
  reserved: number;
  events: LoggedEvent[];
  chars: number;
};

/**
 * The append-only events of a thread's runs. Ids are ascending integers from 0, per run. Events that need not
 * outlive the run are kept in memory. If a crash loses some of them there is a gap, because their ids are not
 * assigned again.
 */
export class EventLog {
  readonly #sql: SqlStorage;
  readonly #pages: EventPages;
  readonly #held = new Map<number, Held>();
  /** The state in memory before the current transaction. */
  #before = new Map<number, Held | null>();

  constructor(sql: SqlStorage, tables: ThreadTables) {
    this.#sql = sql;
    this.#pages = new EventPages(sql, tables);
  }

  /** Appends events, and returns the id of the next one. Must be called in a transaction. */
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
   * Starts an attempt. Returns the value of `next_event` for the run's row: ids before it are never assigned
   * again. Must be called in the transaction that writes the row; `isNew` means that the row does not exist yet.
   */
  begin(runSeq: number, { stored, isNew }: { stored: boolean; isNew: boolean }): number {
    const held = this.#change(runSeq, { isNew });
    held.reserved = stored ? held.next : held.next + RESERVED_IDS;
    return held.reserved;
  }

  /** Writes the events that are in memory only. Must be called in a transaction. */
  store(runSeq: number): void {
    if ((this.#held.get(runSeq)?.events.length ?? 0) === 0) return;
    const held = this.#change(runSeq);
    this.#pages.write(runSeq, held.events);
    held.events = [];
    held.chars = 0;
  }

  /**
   * Returns the id of the next event. It never decreases, even if events are lost, because the run's row has an
   * upper bound.
   */
  nextId(runSeq: number): number {
    return this.#held.get(runSeq)?.next ?? this.#storedNext(runSeq);
  }

  /** Returns the id of the next event while the run has events in memory; afterwards there are no more to come. */
  heldEnd(runSeq: number): number {
    return this.#held.get(runSeq)?.next ?? Infinity;
  }

  /** Whether any of the run's events are on disk. */
  hasStored(runSeq: number): boolean {
    return this.#pages.end(runSeq) > 0;
  }

  /** Returns a page of events after `after` and before `before`, the oldest first. A page ends before a gap. */
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
    // The ids in memory have no gaps.
    const start = first === undefined ? 0 : Math.max(0, after + 1 - first.id);
    for (let index = start; index < held.length; index += 1) {
      const logged = held[index];
      if (logged !== undefined) yield logged;
    }
  }

  /** Removes the run's events. Must be called in a transaction. */
  delete(runSeq: number): void {
    this.#remember(runSeq);
    this.#held.delete(runSeq);
    this.#pages.delete(runSeq);
  }

  /** Drops the events in memory of runs that have ended, except those that are still needed. */
  forgetEnded(isNeeded: (runSeq: number) => boolean): void {
    for (const runSeq of this.#held.keys()) if (!isNeeded(runSeq)) this.#held.delete(runSeq);
  }

  /** Must be called when a transaction was committed: its changes are kept. */
  committed(): void {
    if (this.#before.size > 0) this.#before = new Map();
  }

  /** Reverts the changes of a transaction that failed. */
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
