import { z } from "zod";

/** The formats of an export run's progress columns: its cursor, pending file and open upload. */

/** A position in the order of an export: by start in microseconds, then by id. */
export type Cursor = { startTime: number; id: string };

const CURSOR = /^(\d+):([0-9a-f-]{36})$/;

export function formatCursor({ startTime, id }: Cursor): string {
  return `${startTime}:${id}`;
}

export function parseCursor(text: string): Cursor {
  const [, startTime, id] = CURSOR.exec(text) ?? [];
  if (startTime === undefined || id === undefined) throw new Error(`not a cursor: ${text}`);
  return { startTime: Number(startTime), id };
}

const pendingSchema = z.object({
  target_cursor: z.string(),
  file_path: z.string(),
  rows_count: z.number(),
  /** The lease of the step that wrote the file, which is also in the object's metadata. */
  step: z.string(),
  bytes: z.number(),
  first_start: z.number(),
  last_start: z.number(),
});

/** A file that is being completed in the bucket. It contains what is recorded once the file has arrived. */
export type PendingUpload = z.infer<typeof pendingSchema>;

export function parsePendingUpload(text: string): PendingUpload {
  return pendingSchema.parse(JSON.parse(text));
}

/** The content of the column `open_upload`. */
type OpenUpload = { key: string; upload_id: string };

export function formatOpenUpload(upload: OpenUpload): string {
  return JSON.stringify(upload);
}

export function parseOpenUpload(text: string): OpenUpload {
  return JSON.parse(text) as OpenUpload;
}
