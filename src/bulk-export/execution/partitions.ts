import { v7 as uuid } from "uuid";
import type { NewPartition } from "../../db/bulk-export-schema.ts";
import { dayOf, startOfDay } from "../../lib/utc-day.ts";

/** Microseconds since 1970; the end is exclusive. */
export type TimeRange = { start: number; end: number };

/** The parts of a range by UTC day, in order: together they are exactly the range. */
export function partitionByDay({ start, end }: TimeRange): TimeRange[] {
  const parts: TimeRange[] = [];
  for (let from = start; from < end;) {
    const to = Math.min(end, startOfDay(dayOf(from) + 1));
    parts.push({ start: from, end: to });
    from = to;
  }
  return parts;
}

/** The partitions of a range, as new export runs. */
export function newPartitions(range: TimeRange): NewPartition[] {
  return partitionByDay(range).map(({ start, end }) => ({ id: uuid(), start, end }));
}
