/** A place in the order of an export: by start in microseconds, then by id. */
export type Cursor = { startTime: number; id: string };

const CURSOR = /^(\d+):([0-9a-f-]{36})$/;

export function formatCursor({ startTime, id }: Cursor): string {
  return `${startTime}:${id}`;
}

export function parseCursor(text: string): Cursor {
  const [, startTime, id] = CURSOR.exec(text) ?? [];
  if (startTime === undefined || id === undefined) throw new Error(`no cursor: ${text}`);
  return { startTime: Number(startTime), id };
}
