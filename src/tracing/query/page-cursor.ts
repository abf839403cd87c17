import type { RunPosition } from "../model/run-record.ts";

/** A position as text for clients, who send it back as it is. */
export function encodeCursor({ startTime, id }: RunPosition): string {
  return btoa(JSON.stringify([startTime, id]))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Null when the text is not a cursor. */
export function decodeCursor(text: string): RunPosition | null {
  try {
    const value: unknown = JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
    if (!Array.isArray(value) || value.length !== 2) return null;
    const [startTime, id] = value as unknown[];
    if (!Number.isSafeInteger(startTime) || typeof id !== "string") return null;
    return { startTime: startTime as number, id };
  } catch {
    return null;
  }
}
