export function textIn(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** Returns a member for a request body; empty values are left out. */
export function optional(name: string, value: string): Record<string, string> {
  return value === "" ? {} : { [name]: value };
}

/** Formats a time for a `datetime-local` input, in this machine's time zone. */
export function localTime(millis: number): string {
  const date = new Date(millis);
  return new Date(millis - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function isoTime(local: string): string {
  return new Date(local).toISOString();
}
