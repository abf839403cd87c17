const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Converts a time to ISO 8601. It may be written as a date, or as a time before `now`: `30s`, `10m`, `2h`,
 * `1d`. Returns undefined for anything else.
 */
export function parseLogTime(text: string, now: number): string | undefined {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined)
    return new Date(now - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
  // `Date` would accept many more forms, and interpret them inconsistently.
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
