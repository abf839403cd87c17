import type { Micros } from "../../model/run-write.ts";
import { decodeCursor, encodeCursor, type RunPosition } from "../../model/run-page.ts";

const CURSOR = /^([\w-]+)\.(\d{1,16})\.(\d{1,16})$/;

export type TimeWindow = { from: Micros; to: Micros };

export type TimeBounds = {
  min_start_time?: Micros | null | undefined;
  max_start_time?: Micros | null | undefined;
};

const DAY = 86_400_000_000;

/**
 * The given bounds; by default the last day. Later pages look at the window of the first one: one
 * that moved with the clock would lose runs at one end and find new ones at the other.
 */
export function windowOf(
  { min_start_time, max_start_time }: TimeBounds,
  ofFirstPage: TimeWindow | undefined,
  now: Micros,
): TimeWindow {
  return {
    from: min_start_time ?? ofFirstPage?.from ?? now - DAY,
    to: max_start_time ?? ofFirstPage?.to ?? now,
  };
}

/** Where a page ended, and the window that its query looked at. */
export type WindowCursor = { position: RunPosition; window: TimeWindow };

export function encodeWindowCursor({ position, window }: WindowCursor): string {
  return `${encodeCursor(position)}.${window.from}.${window.to}`;
}

/** Null when the text is not such a cursor. */
export function decodeWindowCursor(text: string): WindowCursor | null {
  const [, encoded, from, to] = CURSOR.exec(text) ?? [];
  if (encoded === undefined) return null;
  const position = decodeCursor(encoded);
  return position === null ? null : { position, window: { from: Number(from), to: Number(to) } };
}
