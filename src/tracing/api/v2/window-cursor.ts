import { decodeCursor, encodeCursor } from "../../query/page-cursor.ts";
import type { RunPosition } from "../../model/run-record.ts";
import type { TimeWindow } from "./window.ts";

/** Where a page ended, and the window that its query looked at. */
export type WindowCursor = { position: RunPosition; window: TimeWindow };

const CURSOR = /^([\w-]+)\.(\d{1,16})\.(\d{1,16})$/;

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
