import { fieldTerm } from "../filter/run-terms.ts";
import type { Micros } from "../../lib/time.ts";
import type { RunWrite } from "../model/run-write.ts";
import { canWait } from "./can-wait.ts";
import type { RunSegments } from "./segments/run-segments.ts";
import { readRunsById } from "./stored-runs.ts";

export type PendingLimits = {
  /**
   * A request with fewer runs that can wait has them written at once: holding them costs a row, and its deletion
   * another.
   */
  fewest: number;
  /** Maximum waiting runs, and length of their rows in UTF-16 code units. Settling them must fit into one turn. */
  mostRuns: number;
  mostChars: number;
};

const LIMITS: PendingLimits = { fewest: 3, mostRuns: 2_000, mostChars: 4 * 1024 * 1024 };

/** Maximum time for which a create waits for its update. */
export const WAIT_MS = 300_000;

/** In UTF-16 code units, of up to three bytes each. A value has 2 MB at most, and a row's last run may exceed this. */
const ROW_CHARS = 512 * 1024;
/** A longer create is written at once: its text would go to disk twice, which costs more than the row it saves. */
const MAX_RUN_CHARS = 16 * 1024;

/** A run of which only the create is known. */
export type WaitingRun = {
  create: RunWrite;
  receivedAt: Micros;
  /** Whether runs with amounts may be stored below it. */
  hasChildren: boolean;
};

/** A create and its JSON text. */
export type SerializedCreate = { create: RunWrite; text: string };

/** `hasChildren` is undefined for a run that was read from disk: the segments know. */
type Remembered = { create: RunWrite; row: number; hasChildren: boolean | undefined };

/** What is in memory of a row of `pending_writes`. */
type PendingRow = { receivedAt: Micros; chars: number; waiting: Set<string> };

/**
 * Creates of runs that have not ended, which wait for their updates. Those of a request are stored in one row,
 * instead of one row for each run that its update would write again. A caller that takes runs from here writes them
 * to `runs` in the same transaction. A row is deleted with the last of its runs; until then its text still has
 * those that were taken, and a shard that is opened recognizes them by their rows in `runs`. Therefore, code that
 * deletes from `runs` settles all waiting runs in the same transaction: see shard-gate.ts.
 */
export class PendingRuns {
  readonly #sql: SqlStorage;
  readonly #segments: RunSegments;
  readonly #limits: PendingLimits;
  /** Keyed by row number, the oldest first; null until they are read. */
  #rows: Map<number, PendingRow> | null = null;
  #runs = new Map<string, Remembered>();
  #chars = 0;

  constructor(sql: SqlStorage, segments: RunSegments, limits = LIMITS) {
    this.#sql = sql;
    this.#segments = segments;
    this.#limits = limits;
  }

  /** Forgets what is in memory, because a change may have been rolled back: it is read again. */
  reset(): void {
    this.#rows = null;
  }

  isEmpty(): boolean {
    return this.#open().size === 0;
  }

  /** Returns when the oldest has waited for as long as it may, in epoch milliseconds; null if none waits. */
  nextDue(): number | null {
    const [oldest] = this.#open().values();
    return oldest === undefined ? null : oldest.receivedAt / 1000 + WAIT_MS;
  }

  /** Separates the creates of a request that can wait from its other writes, in their order. `day` is the shard's. */
  divide(
    writes: readonly RunWrite[],
    day: number,
  ): { packed: SerializedCreate[]; others: RunWrite[] } {
    const packed = this.#pack(writes, day);
    const { fewest, mostRuns, mostChars } = this.#limits;
    const isTooMuch = packed.length > mostRuns || lengthOf(packed) > mostChars;
    if (packed.length < fewest || isTooMuch) return { packed: [], others: [...writes] };
    const held = new Set(packed.map(({ create }) => create.id));
    return { packed, others: writes.filter(({ id }) => !held.has(id)) };
  }

  #pack(writes: readonly RunWrite[], day: number): SerializedCreate[] {
    this.#open();
    const counts = new Map<string, number>();
    for (const { id } of writes) counts.set(id, (counts.get(id) ?? 0) + 1);
    const creates = writes.filter(
      (write) => canWait(write, day) && counts.get(write.id) === 1 && !this.#runs.has(write.id),
    );
    if (creates.length < this.#limits.fewest) return [];
    const stored = new Set(
      this.#segments.locate(creates.map(({ id }) => id)).flatMap(({ ids }) => ids),
    );
    return creates
      .filter(({ id }) => !stored.has(id))
      .map((create) => ({ create, text: JSON.stringify(create) }))
      .filter(({ text }) => text.length <= MAX_RUN_CHARS);
  }

  /** Writes the rows of creates that wait from now on. The caller has made room for them. */
  hold(packed: readonly SerializedCreate[], receivedAt: Micros): void {
    const rows = this.#open();
    for (const group of intoRows(packed)) {
      const { seq } = this.#sql
        .exec<{ seq: number }>(
          "INSERT INTO pending_writes (received_at, writes) VALUES (?, ?) RETURNING seq",
          receivedAt,
          `[${group.map(({ text }) => text).join(",")}]`,
        )
        .one();
      const waiting = new Set(group.map(({ create }) => create.id));
      const chars = lengthOf(group);
      rows.set(seq, { receivedAt, chars, waiting });
      this.#chars += chars;
      for (const { create } of group)
        this.#runs.set(create.id, { create, row: seq, hasChildren: false });
    }
  }

  /** Notes that a run below this one has amounts. Returns false if this one does not wait. */
  noteChild(id: string): boolean {
    this.#open();
    const found = this.#runs.get(id);
    if (found !== undefined) found.hasChildren = true;
    return found !== undefined;
  }

  #mayHaveChildren(id: string): boolean {
    const isChild = { ids: null, terms: [[fieldTerm("parent_run_id", id)]] };
    return this.#segments.pieces(isChild, { from: null, to: null }).length > 0;
  }

  /** Takes those of these runs that wait. */
  take(ids: Iterable<string>): WaitingRun[] {
    const rows = this.#open();
    const taken: WaitingRun[] = [];
    for (const id of ids) {
      const found = this.#runs.get(id);
      const row = found === undefined ? undefined : rows.get(found.row);
      if (found === undefined || row === undefined) continue;
      const hasChildren = found.hasChildren ?? this.#mayHaveChildren(id);
      taken.push({ create: found.create, receivedAt: row.receivedAt, hasChildren });
      this.#runs.delete(id);
      row.waiting.delete(id);
      if (row.waiting.size === 0) this.#remove(found.row, row);
    }
    return taken;
  }

  /** Takes the oldest runs, as many as needed to make room for these. */
  makeRoom(packed: readonly SerializedCreate[]): WaitingRun[] {
    const { mostRuns, mostChars } = this.#limits;
    const chars = lengthOf(packed);
    return this.#takeRows(
      () => this.#runs.size + packed.length > mostRuns || this.#chars + chars > mostChars,
    );
  }

  /** Takes the runs that were received at this time or before. */
  takeReceived(until: Micros): WaitingRun[] {
    return this.#takeRows(({ receivedAt }) => receivedAt <= until);
  }

  /** Drops the runs of these traces: nothing refers to them but the rows that hold them. */
  discard(traceIds: readonly string[]): void {
    this.#open();
    const traces = new Set(traceIds);
    const ids = [...this.#runs.values()].flatMap(({ create: { id, identity } }) =>
      identity !== undefined && traces.has(identity.traceId) ? [id] : [],
    );
    this.take(ids);
  }

  /** Takes whole rows, the oldest first, as long as the condition holds. */
  #takeRows(isTaken: (row: PendingRow) => boolean): WaitingRun[] {
    const taken: WaitingRun[] = [];
    const rows = this.#open();
    for (const [seq, row] of rows) {
      if (!isTaken(row)) break;
      taken.push(...this.take([...row.waiting]));
      // An earlier release, which does not know of these rows, may have written all runs of a row.
      if (rows.has(seq)) this.#remove(seq, row);
    }
    return taken;
  }

  #remove(seq: number, { chars }: PendingRow): void {
    this.#sql.exec("DELETE FROM pending_writes WHERE seq = ?", seq);
    this.#rows?.delete(seq);
    this.#chars -= chars;
  }

  #open(): Map<number, PendingRow> {
    if (this.#rows !== null) return this.#rows;
    const rows = new Map<number, PendingRow>();
    this.#runs = new Map();
    this.#chars = 0;
    const stored = this.#sql.exec<{ seq: number; received_at: number; writes: string }>(
      "SELECT * FROM pending_writes ORDER BY seq",
    );
    for (const { seq, received_at: receivedAt, writes } of stored) {
      rows.set(seq, { receivedAt, chars: writes.length, waiting: new Set() });
      this.#chars += writes.length;
      for (const create of JSON.parse(writes) as RunWrite[]) {
        this.#runs.set(create.id, { create, row: seq, hasChildren: undefined });
      }
    }
    const place = { sql: this.#sql, segments: this.#segments };
    for (const { id } of readRunsById<{ id: string }>(place, "r.id", this.#runs.keys())) {
      this.#runs.delete(id);
    }
    for (const [id, { row }] of this.#runs) rows.get(row)?.waiting.add(id);
    this.#rows = rows;
    return rows;
  }
}

function lengthOf(packed: readonly SerializedCreate[]): number {
  return packed.reduce((sum, { text }) => sum + text.length, 0);
}

/** Divides creates into as few rows as possible. */
function intoRows(packed: readonly SerializedCreate[]): SerializedCreate[][] {
  const groups: SerializedCreate[][] = [];
  let chars = Infinity;
  for (const entry of packed) {
    if (chars > ROW_CHARS) {
      groups.push([]);
      chars = 0;
    }
    groups.at(-1)?.push(entry);
    chars += entry.text.length;
  }
  return groups;
}
