/** RFC 3339 in UTC with six digits of a second, from microseconds since 1970. */
export function formatMicros(micros: number): string {
  const millis = Math.floor(micros / 1000);
  const rest = String(micros - millis * 1000).padStart(3, "0");
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`;
}
