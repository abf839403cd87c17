import type { Micros } from "../../model/run-write.ts";

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
