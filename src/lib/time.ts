/** Formats milliseconds since the epoch as RFC 3339 in UTC with three fractional digits. */
export function toIso(millis: number): string {
  return new Date(millis).toISOString();
}

/** Formats microseconds since the epoch as RFC 3339 in UTC with six fractional digits. */
export function microsToIso(micros: number): string {
  const millis = Math.floor(micros / 1000);
  const rest = String(micros - millis * 1000).padStart(3, "0");
  return `${toIso(millis).slice(0, -1)}${rest}Z`;
}

/** Microseconds since 1970-01-01T00:00:00Z: the precision of the tracing protocol, exact in a number. */
export type Micros = number;

export const MICROS_PER_SECOND = 1_000_000;

/** Converts microseconds to whole milliseconds, rounded down. */
export function microsToMillis(micros: Micros): number {
  return Math.floor(micros / 1000);
}

/** Does the same for a time that may be missing. */
export function optionalMillis(micros: Micros | null | undefined): number | null {
  return micros == null ? null : microsToMillis(micros);
}

/** The largest time, on 2255-06-05: larger numbers are not exact. */
const MAX_MICROS = Number.MAX_SAFE_INTEGER;

const ISO_8601 =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|z|[+-]\d{2}(?::?\d{2})?)?)?$/;

/**
 * Reads an ISO 8601 text or a number of milliseconds since the epoch. A text without a zone is in UTC, and digits
 * below a microsecond are dropped. Returns null for anything else, and for times before 1970 or after 2255.
 */
export function parseTime(value: unknown): Micros | null {
  if (typeof value === "number") return value < 0 ? null : within(Math.round(value * 1000));
  return typeof value === "string" ? parseIso(value) : null;
}

/** Returns the microseconds since the epoch of a calendar time in UTC; null when there is no such time. */
export function utcMicros(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  micros: number,
): Micros | null {
  if (hour > 23 || minute > 59 || second > 59) return null;
  const millis = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(millis);
  // `Date.UTC` turns the 31st of April into the 1st of May, and the year 85 into 1985.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1) return null;
  if (date.getUTCDate() !== day) return null;
  return millis * 1000 + micros;
}

function parseIso(text: string): Micros | null {
  const match = ISO_8601.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const micros = Number((match[7] ?? "").slice(0, 6).padEnd(6, "0"));
  const local = utcMicros(
    year ?? 0,
    month ?? 0,
    day ?? 0,
    hour ?? 0,
    minute ?? 0,
    second ?? 0,
    micros,
  );
  const offset = offsetMinutes(match[8] ?? "Z");
  return local === null || offset === null ? null : within(local - offset * 60_000_000);
}

function offsetMinutes(zone: string): number | null {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function within(micros: number): Micros | null {
  return micros >= 0 && micros <= MAX_MICROS ? micros : null;
}

/** The maximum time to live, a hundred years: data that lasts longer need not expire at all. */
export const MAX_TTL_MINUTES = 100 * 366 * 24 * 60;
