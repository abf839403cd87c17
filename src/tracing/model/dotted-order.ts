import { dayOf } from "../../lib/utc-day.ts";

/** `YYYYMMDDTHHMMSSffffffZ`, then the run's id. */
const TIME_CHARS = 22;
const TIME = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{6})Z$/;

/** The day of each run from the root down to the run itself. Of a checked dotted order only. */
export function daysOf(dottedOrder: string): number[] {
  return dottedOrder.split(".").map((segment) => dayOf(segmentTime(segment)));
}

/** The run ids from the root down to the direct parent. */
export function ancestorIds(dottedOrder: string): string[] {
  return dottedOrder
    .split(".")
    .slice(0, -1)
    .map((segment) => segment.slice(TIME_CHARS));
}

/** When the run started, by its own (the last) segment. */
export function ownTime(dottedOrder: string): number {
  return segmentTime(dottedOrder.slice(dottedOrder.lastIndexOf(".") + 1));
}

function segmentTime(segment: string): number {
  const match = TIME.exec(segment.slice(0, TIME_CHARS));
  if (match === null) throw new Error(`not a dotted order segment: ${segment}`);
  const [year, month, day, hour, minute, second, micros] = match.slice(1).map(Number);
  const millis = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second);
  return millis * 1000 + (micros ?? 0);
}
