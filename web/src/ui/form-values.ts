export function textIn(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** A member that is left out when it is empty. */
export function optional(name: string, value: string): Record<string, string> {
  return value === "" ? {} : { [name]: value };
}

/** As a field for date and time has it, in the time of this machine. */
export function localTime(millis: number): string {
  const date = new Date(millis);
  return new Date(millis - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function isoTime(local: string): string {
  return new Date(local).toISOString();
}
