import { z } from "zod";

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
