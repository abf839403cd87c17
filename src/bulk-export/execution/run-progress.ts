import { z } from "zod";

/** How far an export run has come, as texts of its row: its cursor, and what is on its way into the bucket. */

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

const pendingSchema = z.object({
  target_cursor: z.string(),
  file_path: z.string(),
  rows_count: z.number(),
  /** The lease of the step that wrote it, which the object has in its metadata. */
  step: z.string(),
  bytes: z.number(),
  first_start: z.number(),
  last_start: z.number(),
});

/** A file on its way into the bucket: what is recorded when it turns out to have arrived. */
export type PendingUpload = z.infer<typeof pendingSchema>;

export function parsePendingUpload(text: string): PendingUpload {
  return pendingSchema.parse(JSON.parse(text));
}

/** What a run has in `open_upload`. */
type OpenUpload = { key: string; upload_id: string };

export function formatOpenUpload(upload: OpenUpload): string {
  return JSON.stringify(upload);
}

export function parseOpenUpload(text: string): OpenUpload {
  return JSON.parse(text) as OpenUpload;
}
