import type { TimeSpan } from "../../filter/filter.ts";
import { SEARCHED_TEXT_COLUMNS } from "../../filter/required-texts.ts";
import { termsOfRun } from "../../filter/run-terms.ts";
import { startsWithin } from "../../filter/run-key.ts";
import type { RunLeaves, TracedRunRow } from "../../model/run-row.ts";
import { hashOf, HashSet, Segment } from "./segment.ts";
import { TextFilter, type TextTest } from "./text-filter.ts";

type SegmentLimits = {
  /** After this many runs, a run that starts later begins a new segment. */
  runs: number;
  /** A segment that grew beyond this size because of late runs is divided. */
  mostRuns: number;
  /** Maximum number of segments besides the last that lack their row, before these rows are written. */
  open: number;
  /** A segment with more of them, all with one start, has no row: on Cloudflare a value has 2 MB at most. */
  idsBytes: number;
};

const LIMITS: SegmentLimits = { runs: 256, mostRuns: 1024, open: 32, idsBytes: 2_000_000 };

/** Bounds that include the start of every run. */
export const FIRST_TIME = Number.MIN_SAFE_INTEGER;
export const LAST_TIME = Number.MAX_SAFE_INTEGER;

/** Both bounds are inclusive. */
export type StartRange = { from: number; to: number };

/** The requested part of a segment; no more than `size` runs start in it. */
export type SegmentPiece = StartRange & { size: number; firstStart: number };

/** The columns of a row of `runs` that segments index. */
export type IndexedRow = Parameters<typeof termsOfRun>[0] &
  Pick<TracedRunRow & RunLeaves, "id" | "start_time">;

/** The columns of a run whose texts filters search. */
export type TextRow = Record<(typeof SEARCHED_TEXT_COLUMNS)[number], string | null>;

/** What a run must have: one of the ids, and one term of each list. */
export type RequiredTerms = { ids: readonly string[] | null; terms: readonly string[][] };

const INDEXED_COLUMNS = `id, start_time, trace_id, parent_run_id, thread_id, reference_example_id, name,
  status, tags, metadata`;

/**
 * The runs of a shard by ranges of their start, and what each range may contain. They replace indexes, each of which
 * would cost a row per run. They are kept in memory, with some 16 bytes per run. A segment's row is written when the
 * next segment begins; until then, a mark says that the segment must be read again from its runs when the shard is
 * opened.
 */
export class RunSegments {
  readonly #sql: SqlStorage;
  readonly #limits: SegmentLimits;
  #segments: Segment[] | null = null;
  #ids = new HashSet();
  #isFull = false;
  /** Whether a segment has begun since rows were last written: the one before is complete, except for late runs. */
  #hasBegun = false;

  constructor(sql: SqlStorage, limits = LIMITS) {
    this.#sql = sql;
    this.#limits = limits;
  }

  /** Forgets what is in memory, because a change may have been rolled back. */
  reset(): void {
    this.#segments = null;
  }

  /** Returns the spans that may have runs with these ids; there are none elsewhere. */
  locate(ids: Iterable<string>): { span: StartRange; ids: string[] }[] {
    const segments = this.#open();
    const found = new Map<number, string[]>();
    for (const id of ids) {
      const hash = hashOf(id);
      if (!this.#ids.has(hash)) continue;
      for (let index = segments.length - 1; index >= 0; index -= 1) {
        if (segments[index]?.hasId(hash) !== true) continue;
        const others = found.get(index);
        if (others === undefined) found.set(index, [id]);
        else others.push(id);
      }
    }
    return [...found].map(([index, some]) => ({ span: this.#spanOf(index), ids: some }));
  }

  /** Returns the consecutive parts of segments within the bounds that may have such runs. */
  pieces({ ids, terms }: RequiredTerms, { from, to }: TimeSpan): SegmentPiece[] {
    const first = from ?? FIRST_TIME;
    const last = to ?? LAST_TIME;
    if (first > last) return [];
    const segments = this.#open();
    const hashes = terms.map((texts) => texts.map(hashOf));
    const idHashes = ids?.map(hashOf).filter((hash) => this.#ids.has(hash)) ?? null;
    const pieces: SegmentPiece[] = [];
    for (const [index, segment] of segments.entries()) {
      const span = this.#spanOf(index);
      if (span.to < first || span.from > last) continue;
      if (idHashes !== null && !idHashes.some((hash) => segment.hasId(hash))) continue;
      if (!hashes.every((some) => some.some((hash) => segment.mayHave(hash)))) continue;
      const within = { from: Math.max(span.from, first), to: Math.min(span.to, last) };
      pieces.push({ ...within, size: segment.size, firstStart: segment.firstStart });
    }
    return pieces;
  }

  /** Returns whether runs of a piece may have such texts; also true if that is not known. */
  mayHaveTexts({ firstStart }: SegmentPiece, test: TextTest): boolean {
    if (this.#open()[this.#indexOf(firstStart)]?.isOpen !== false) return true;
    const packed = this.#packedTexts(firstStart);
    return packed === undefined || test(new Uint8Array(packed));
  }

  /**
   * Enters a run that was written; `isNew` if it did not have this start before. `texts` is null if its texts did
   * not change or are not known.
   */
  add(run: IndexedRow, isNew: boolean, texts: TextRow | null): void {
    const segment = this.#segmentOf(run.start_time, isNew);
    if (isNew && texts === null) segment.texts = null;
    const filter = texts === null ? null : this.#textsOf(segment);
    let isChanged = isNew;
    if (texts !== null && filter !== null && addTexts(filter, texts)) isChanged = true;
    if (isNew) {
      const hash = hashOf(run.id);
      segment.addId(hash, run.start_time);
      this.#ids.add(hash);
      if (segment.isToBeDivided(this.#limits.mostRuns)) this.#isFull = true;
    }
    for (const term of termsOfRun(run)) {
      if (segment.addTerm(hashOf(term))) isChanged = true;
    }
    if (!isChanged || segment.isOpen) return;
    segment.isOpen = true;
    segment.texts = filter;
    this.#mark(segment);
  }

  /** Returns the filter of a segment's texts, for additions; null if it is not known. */
  #textsOf({ isOpen, texts, firstStart }: Segment): TextFilter | null {
    if (isOpen) return texts;
    const packed = this.#packedTexts(firstStart);
    return packed === undefined ? null : new TextFilter(packed);
  }

  #packedTexts(firstStart: number): ArrayBuffer | undefined {
    const rows = this.#sql.exec<{ bits: ArrayBuffer }>(
      "SELECT bits FROM segment_texts WHERE first_start = ?",
      firstStart,
    );
    return rows.toArray()[0]?.bits;
  }

  /** Divides a segment that is too large, and writes the rows of segments. For the end of a transaction. */
  tidy(): void {
    const segments = this.#open();
    if (this.#isFull) {
      this.#isFull = false;
      const large = segments.findIndex((each) => each.isToBeDivided(this.#limits.mostRuns));
      if (large !== -1) this.#divide(large);
    }
    if (this.#hasBegun || this.#openBeforeLast().length > this.#limits.open) this.#saveAll();
  }

  #openBeforeLast(): Segment[] {
    return this.#open()
      .slice(0, -1)
      .filter(({ isOpen }) => isOpen);
  }

  /** Writes the rows of all segments but the last, which will still grow. */
  #saveAll(): void {
    this.#hasBegun = false;
    for (const segment of this.#openBeforeLast()) this.#save(segment);
  }

  #open(): Segment[] {
    if (this.#segments !== null) return this.#segments;
    const stored = this.#sql
      .exec<{ first_start: number; ids: ArrayBuffer; terms: ArrayBuffer }>(
        `SELECT * FROM segments WHERE first_start NOT IN (SELECT first_start FROM open_segments)`,
      )
      .toArray()
      .map((row) => new Segment(row.first_start, row));
    const open = this.#sql
      .exec<{ first_start: number }>("SELECT first_start FROM open_segments")
      .toArray()
      .map(({ first_start }) => new Segment(first_start));
    const segments = [...stored, ...open].toSorted((a, b) => a.firstStart - b.firstStart);
    this.#segments = segments;
    this.#ids = new HashSet();
    for (const segment of stored) for (const hash of segment.ids) this.#ids.add(hash);
    for (const segment of open) this.#read(segment);
    // In a shard that was moved here all segments are open, and it may never be written to again.
    if (this.#openBeforeLast().length > this.#limits.open) this.#saveAll();
    return segments;
  }

  /** Enters all runs of a segment, and of those that begin in the meantime. */
  #read(segment: Segment): void {
    const { from, to } = this.#spanOf(this.#open().indexOf(segment));
    const rows = this.#sql.exec<IndexedRow>(
      `SELECT ${INDEXED_COLUMNS} FROM runs r WHERE ${startsWithin("r", from, to)} ORDER BY r.key`,
    );
    let current = segment;
    for (const run of rows) {
      if (current.size >= this.#limits.runs && run.start_time > current.lastStart) {
        current = this.#begin(run.start_time, current);
      }
      const hash = hashOf(run.id);
      current.addId(hash, run.start_time);
      this.#ids.add(hash);
      for (const term of termsOfRun(run)) current.addTerm(hashOf(term));
      current.texts = null;
    }
  }

  /** Reads a segment again and divides it into several. */
  #divide(index: number): void {
    const segments = this.#open();
    const before = segments[index];
    if (before === undefined) return;
    const after = segments.length - index;
    const segment = new Segment(before.firstStart);
    segments[index] = segment;
    if (!before.isOpen) this.#mark(segment);
    this.#read(segment);
    for (const part of segments.slice(index, segments.length - after + 1)) {
      if (part.isToBeDivided(this.#limits.mostRuns)) part.indivisibleRuns = part.size;
    }
  }

  /** Begins a segment after another one. */
  #begin(firstStart: number, before: Segment | undefined): Segment {
    const next = new Segment(firstStart);
    this.#hasBegun = true;
    const segments = this.#open();
    segments.splice(before === undefined ? 0 : segments.indexOf(before) + 1, 0, next);
    this.#mark(next);
    return next;
  }

  #segmentOf(start: number, isNew: boolean): Segment {
    const segments = this.#open();
    const index = this.#indexOf(start);
    const found = segments[index];
    if (found === undefined) return this.#begin(start, undefined);
    const isLast = index === segments.length - 1;
    if (!isNew || !isLast || found.size < this.#limits.runs || start <= found.lastStart)
      return found;
    return this.#begin(start, found);
  }

  /** The first segment also has the runs that start before it. */
  #indexOf(start: number): number {
    const segments = this.#open();
    let low = 0;
    let high = segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((segments[middle]?.firstStart ?? LAST_TIME) <= start) low = middle + 1;
      else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  #spanOf(index: number): StartRange {
    const segments = this.#open();
    const next = segments[index + 1];
    return {
      from: index === 0 ? FIRST_TIME : (segments[index]?.firstStart ?? FIRST_TIME),
      to: next === undefined ? LAST_TIME : next.firstStart - 1,
    };
  }

  #mark({ firstStart }: Segment): void {
    this.#sql.exec("INSERT OR IGNORE INTO open_segments (first_start) VALUES (?)", firstStart);
  }

  #save(segment: Segment): void {
    if (segment.ids.byteLength > this.#limits.idsBytes) return;
    this.#sql.exec(
      "INSERT OR REPLACE INTO segments (first_start, ids, terms) VALUES (?, ?, ?)",
      segment.firstStart,
      segment.ids.slice(),
      segment.terms,
    );
    this.#saveTexts(segment);
    this.#sql.exec("DELETE FROM open_segments WHERE first_start = ?", segment.firstStart);
    segment.isOpen = false;
  }

  #saveTexts(segment: Segment): void {
    const bits = (segment.texts ?? this.#readTexts(segment)).packed();
    if (bits === null) {
      this.#sql.exec("DELETE FROM segment_texts WHERE first_start = ?", segment.firstStart);
    } else {
      this.#sql.exec(
        "INSERT OR REPLACE INTO segment_texts (first_start, bits) VALUES (?, ?)",
        segment.firstStart,
        bits,
      );
    }
    segment.texts = null;
  }

  /** Reads the texts from the runs, for a segment that was read when the shard was opened, or divided. */
  #readTexts(segment: Segment): TextFilter {
    const { from, to } = this.#spanOf(this.#open().indexOf(segment));
    const rows = this.#sql.exec<TextRow>(
      `SELECT ${SEARCHED_TEXT_COLUMNS.join(", ")} FROM runs r WHERE ${startsWithin("r", from, to)}`,
    );
    const filter = new TextFilter();
    for (const texts of rows) {
      addTexts(filter, texts);
      if (filter.isFull) break;
    }
    return filter;
  }
}

/** Returns true if some of the texts were not known before. */
function addTexts(filter: TextFilter, texts: TextRow): boolean {
  let isNew = false;
  for (const column of SEARCHED_TEXT_COLUMNS) {
    const text = texts[column];
    if (text !== null && filter.add(text)) isNew = true;
  }
  return isNew;
}
