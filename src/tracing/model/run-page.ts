import type { Micros } from "../../lib/time.ts";
import type { Payload, PayloadField } from "./run-write.ts";
import type { TracedRunRow } from "./run-row.ts";

/** Where a page ends: runs are ordered by start and, where that is equal, by id. */
export type RunPosition = { startTime: Micros; id: string };

export type RunOrder = "asc" | "desc";

export type PageQuery = {
  order: RunOrder;
  /** The page begins behind it. */
  after: RunPosition | null;
  limit: number;
  /** The page ends early when its payloads exceed this; it has one run at least. */
  maxBytes: number;
  payloads: readonly PayloadField[];
  /** How much of a turn's work may be done, from 0 to 1, before the page ends. */
  effort: number;
};

/** A run with what its trace's row says and the payloads that were asked for. */
export type RunRecord = TracedRunRow & {
  trace_tier: string;
  trace_first_received_at: number;
  payloads: Partial<Record<PayloadField, Payload>>;
};

/** `next` is where to go on, behind the last run that was looked at; null when all were. */
export type RunPage = { runs: RunRecord[]; next: RunPosition | null };

/** A position as text for clients, who send it back as it is. */
export function encodeCursor({ startTime, id }: RunPosition): string {
  return btoa(JSON.stringify([startTime, id]))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Null when the text is not a cursor. */
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
