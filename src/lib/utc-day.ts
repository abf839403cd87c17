export const MICROS_PER_DAY = 86_400_000_000;

/** Returns the number of whole UTC days since 1970-01-01 of a time in microseconds. */
export function dayOf(micros: number): number {
  return Math.floor(micros / MICROS_PER_DAY);
}

/** Returns the first microsecond of a day. */
export function startOfDay(day: number): number {
  return day * MICROS_PER_DAY;
}

export function lastMicroOfDay(day: number): number {
  return startOfDay(day + 1) - 1;
}
