import type { Micros } from "../../model/run-write.ts";
import { utcMicros } from "../../../lib/parse-time.ts";
import { parseUuid } from "../../model/uuid.ts";

/** One run on the way from the root of a trace down to a run. */
export type DottedSegment = { time: Micros; id: string };

/** Deeper trees are taken for a mistake: each level makes the text 59 characters longer. */
const MAX_SEGMENTS = 1000;

const SEGMENT = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{6})Z([0-9a-f-]{36})$/i;

/**
 * Reads segments `YYYYMMDDTHHMMSSffffffZ<run id>`, joined by dots, root first; ids come out in lower
 * case. Null for anything else.
 */
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

/** `time` is from 1970 on; `id` a lower-case UUID with dashes. */
export function formatDottedSegment(time: Micros, id: string): string {
  const millis = Math.floor(time / 1000);
  const micros = String(time - millis * 1000).padStart(3, "0");
  // 2026-08-01T12:00:00.000Z
  const compact = new Date(millis).toISOString().replaceAll(/[-:.Z]/g, "");
  return `${compact}${micros}Z${id}`;
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
