import type { LoggedEvent } from "../storage/event-frames.ts";
import type { RunRow } from "../storage/run-row.ts";
import type { ProtocolEvent } from "../../../graph-runtime/stream-protocol/protocol-event.ts";
import { type ProtocolFrame, toProtocolFrame } from "./event-frame.ts";
import {
  type RunEnd,
  type TranslatedRun,
  RunTranslator,
} from "../../../graph-runtime/stream-protocol/run-translator.ts";

/**
 * Each logged event of a thread has a place, counted across its runs. The protocol events that it is translated to
 * are numbered within the place, so that an event's number is known without translating the runs before it.
 */
const NUMBERS_PER_PLACE = 1_000_000;

/** Returns the highest number that an event before this place can have. */
export function lastSeqBefore(place: number): number {
  return place * NUMBERS_PER_PLACE - 1;
}

/** The logs of a thread's runs, one after the other. */
export type ThreadLog = {
  /** Returns the run that contains this place, or the first run after it. */
  runAt: (place: number) => RunRow | null;
  /** Returns the first run that begins at this place or later. */
  runFrom: (place: number) => RunRow | null;
  /** Returns null if the run was removed. */
  runNow: (runId: string) => RunRow | null;
  read: (runSeq: number, after: number) => LoggedEvent[];
  hasEnded: (runSeq: number) => boolean;
  describe: (run: RunRow) => TranslatedRun;
  endOf: (run: RunRow) => RunEnd;
};

/**
 * `more` means that further events may be available at once. A null step means that the next events no longer
 * exist.
 */
export type CursorStep = { frames: ProtocolFrame[]; more: boolean } | null;

/** The run that is being read. */
type Current = { run: RunRow; firstPlace: number; nextId: number; translator: RunTranslator };

const NOTHING: CursorStep = { frames: [], more: false };

/** Reads the events of a thread in order, starting after a number. */
export class EventCursor {
  readonly #log: ThreadLog;
  /** Events up to this number are skipped. */
  readonly #after: number;
  #place: number;
  #current: Current | null = null;
  #hasBegun = false;

  constructor(log: ThreadLog, after: number) {
    this.#log = log;
    this.#after = after;
    this.#place = Math.max(0, Math.floor(after / NUMBERS_PER_PLACE));
  }

  advance(): CursorStep {
    const current = (this.#current ??= this.#nextRun());
    if (current === null) return NOTHING;
    const { run, firstPlace, translator } = current;
    // Checked before reading: events that are written in between are still read, and never skipped.
    const ended = this.#log.hasEnded(run.seq);
    const events = this.#log.read(run.seq, current.nextId - 1);
    const last = events.at(-1);
    if (last !== undefined) {
      current.nextId = last.id + 1;
      const frames = events.flatMap((event) => {
        const at = event.at ?? run.started_at ?? run.created_at;
        return this.#frames(translator.translate(event), firstPlace + event.id, at);
      });
      return { frames, more: true };
    }
    return ended ? this.#end(current) : NOTHING;
  }

  #end(current: Current): CursorStep {
    const { run, firstPlace, nextId, translator } = current;
    const now = this.#log.runNow(run.run_id);
    if (now !== null && nextId < now.next_event) return null;
    this.#current = null;
    this.#place = firstPlace + nextId + 1;
    const end = now === null ? ({ event: "interrupted" } as const) : this.#log.endOf(now);
    const at = now?.ended_at ?? run.updated_at;
    return { frames: this.#frames(translator.end(end), firstPlace + nextId, at), more: true };
  }

  #nextRun(): Current | null {
    const { runAt, runFrom, describe } = this.#log;
    const run = this.#hasBegun ? runFrom(this.#place) : runAt(this.#place);
    if (run === null || run.first_seq === null) return null;
    this.#hasBegun = true;
    const translator = new RunTranslator(describe(run));
    return { run, firstPlace: run.first_seq, nextId: 0, translator };
  }

  #frames(events: readonly ProtocolEvent[], place: number, at: number): ProtocolFrame[] {
    const first = place * NUMBERS_PER_PLACE;
    return events
      .slice(0, NUMBERS_PER_PLACE)
      .map((event, index) => ({ event, seq: first + index }))
      .filter(({ seq }) => seq > this.#after)
      .map(({ event, seq }) => toProtocolFrame(event, seq, at));
  }
}
