import { type Micros, utcMicros } from "../../lib/time.ts";
import { dayOf } from "../../lib/utc-day.ts";
import { parseUuid } from "../../lib/uuid.ts";

/**
 * A dotted order is the path from the root of a trace down to a run: one segment
 * `YYYYMMDDTHHMMSSffffffZ<run id>` for each run on it, joined by dots.
 */

export const TIME_CHARS = 22;
export const ID_CHARS = 36;
/** Length of a segment without the dot after it. */
export const SEGMENT_CHARS = TIME_CHARS + ID_CHARS;

const TIME_PATTERN = String.raw`(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{6})Z`;
const TIME = new RegExp(`^${TIME_PATTERN}$`);
const SEGMENT = new RegExp(`^${TIME_PATTERN}([0-9a-f-]{36})$`, "i");

/** Maximum depth; deeper trees are taken for a mistake. Each level makes the text 59 characters longer. */
const MAX_SEGMENTS = 1000;

/** One run on the path. */
export type DottedSegment = { time: Micros; id: string };

/** Parses any text, root first, and converts ids to lower case. Returns null if it is not a dotted order. */
export function parseDottedOrder(text: string): DottedSegment[] | null {
  const parts = text.split(".", MAX_SEGMENTS + 1);
  if (parts.length > MAX_SEGMENTS) return null;
  const segments: DottedSegment[] = [];
  for (const part of parts) {
    const segment = parseSegment(part);
    if (segment === null) return null;
    segments.push(segment);
  }
  return segments;
}

export function formatDottedOrder(segments: readonly DottedSegment[]): string {
  return segments.map(({ time, id }) => formatDottedSegment(time, id)).join(".");
}

/** `time` must not be before 1970; `id` must be a lower-case UUID with dashes. */
export function formatDottedSegment(time: Micros, id: string): string {
  const millis = Math.floor(time / 1000);
  const micros = String(time - millis * 1000).padStart(3, "0");
  // 2026-08-01T12:00:00.000Z
  const compact = new Date(millis).toISOString().replaceAll(/[-:.Z]/g, "");
  return `${compact}${micros}Z${id}`;
}

/** Returns the day of each run from the root down to the run itself. Here and below, the order must be valid. */
export function daysOf(dottedOrder: string): number[] {
  return dottedOrder.split(".").map((segment) => dayOf(segmentTime(segment)));
}

/** Returns the run ids from the root down to the direct parent. */
export function ancestorIds(dottedOrder: string): string[] {
  return dottedOrder
    .split(".")
    .slice(0, -1)
    .map((segment) => segment.slice(TIME_CHARS));
}

/** Returns the start of the trace, from the root's (the first) segment. */
export function rootTime(dottedOrder: string): number {
  return segmentTime(dottedOrder);
}

/** Returns the start of the run, from its own (the last) segment. */
export function ownTime(dottedOrder: string): number {
  return segmentTime(dottedOrder.slice(dottedOrder.lastIndexOf(".") + 1));
}

function parseSegment(text: string): DottedSegment | null {
  const match = SEGMENT.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second, micros] = match.slice(1, 8).map(Number);
  const time = utcMicros(
    year ?? 0,
    month ?? 0,
    day ?? 0,
    hour ?? 0,
    minute ?? 0,
    second ?? 0,
    micros ?? 0,
  );
  const id = parseUuid(match[8] ?? "");
  return time === null || time < 0 || !Number.isSafeInteger(time) || id === null
    ? null
    : { time, id };
}

function segmentTime(segment: string): number {
  const match = TIME.exec(segment.slice(0, TIME_CHARS));
  if (match === null) throw new Error(`not a dotted order segment: ${segment}`);
  const [year, month, day, hour, minute, second, micros] = match.slice(1).map(Number);
  const millis = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second);
  return millis * 1000 + (micros ?? 0);
}
