import type { Micros } from "../../lib/time.ts";
import type { Payload, PayloadField } from "./run-write.ts";
import type { TracedRunRow } from "./run-row.ts";

/** The end of a page: runs are ordered by start and, where that is equal, by id. */
export type RunPosition = { startTime: Micros; id: string };

export type RunOrder = "asc" | "desc";

export type PageQuery = {
  order: RunOrder;
  /** The page begins after this position. */
  after: RunPosition | null;
  limit: number;
  /** The page ends early once its payloads exceed this; it has at least one run. */
  maxBytes: number;
  payloads: readonly PayloadField[];
  /** The share of a turn's work, from 0 to 1, that may be done before the page ends. */
  effort: number;
};

/** A run with the columns of its trace's row and the requested payloads. */
export type RunRecord = TracedRunRow & {
  trace_tier: string;
  trace_first_received_at: number;
  payloads: Partial<Record<PayloadField, Payload>>;
};

/** `next` is the position after the last run that was examined, to continue from; null if all were. */
export type RunPage = { runs: RunRecord[]; next: RunPosition | null };

/** Encodes a position as text for clients, who send it back unchanged. */
export function encodeCursor({ startTime, id }: RunPosition): string {
  return btoa(JSON.stringify([startTime, id]))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Returns null if the text is not a cursor. */
export function decodeCursor(text: string): RunPosition | null {
  try {
    const value: unknown = JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
    if (!Array.isArray(value) || value.length !== 2) return null;
    const [startTime, id] = value as unknown[];
    if (!Number.isSafeInteger(startTime) || typeof id !== "string") return null;
    return { startTime: startTime as number, id };
  } catch {
    return null;
  }
}
