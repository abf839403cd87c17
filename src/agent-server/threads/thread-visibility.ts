import { matchesMetadata, type MetadataFilter } from "../../lib/metadata-filter.ts";
import type { ThreadRow } from "./thread-record.ts";

/** Whoever asks sees only a thread whose metadata matches; null sees any. */
export type Visibility = MetadataFilter | null;

export function isVisible(thread: ThreadRow, to: Visibility): boolean {
  return to === null || matchesMetadata(JSON.parse(thread.metadata), to);
}
