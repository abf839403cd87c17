import { matchesMetadata, type MetadataFilter } from "../../../lib/metadata-filter.ts";
import type { ThreadRow } from "../storage/thread-record.ts";

/** Whoever asks sees only a thread whose metadata matches; null sees any. */
export type Visibility = MetadataFilter | null;

/** What the platform itself sees: nobody's request has led to the call. */
export const ALL_THREADS: Visibility = null;

export function isVisible(thread: ThreadRow, to: Visibility): boolean {
  return to === null || matchesMetadata(JSON.parse(thread.metadata), to);
}
