/** RFC 3339 in UTC with three digits of a second, from milliseconds since 1970. */
export function toIso(millis: number): string {
  return new Date(millis).toISOString();
}

/** RFC 3339 in UTC with six digits of a second, from microseconds since 1970. */
export function microsToIso(micros: number): string {
  const millis = Math.floor(micros / 1000);
  const rest = String(micros - millis * 1000).padStart(3, "0");
  return `${toIso(millis).slice(0, -1)}${rest}Z`;
}
