export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes one JSON object to one line of the console, unless `level` is below `threshold`. */
export function log(
  threshold: LogLevel,
  level: LogLevel,
  fields: Record<string, string | number | boolean | null | undefined>,
): void {
  if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(threshold)) return;
  console[level](JSON.stringify({ level, ...fields }));
}
