import { leavesOf } from "./leaves.ts";
import type { Leaf } from "./run-write.ts";

/** Metadata keys by which clients say that traces belong together; the first that is set counts. */
const THREAD_KEYS = ["session_id", "thread_id", "conversation_id"];

/** The leaves of a run's `extra.metadata`. */
export function metadataOf(extra: unknown): Leaf[] {
  const metadata = fieldOf(extra, "metadata");
  // A lone value has no key to ask for.
  return typeof metadata === "object" ? leavesOf(metadata).filter(([key]) => key !== "") : [];
}

/** The thread that a run's `extra.metadata` names. */
export function threadIdOf(extra: unknown): string | null {
  const metadata = fieldOf(extra, "metadata");
  for (const key of THREAD_KEYS) {
    const id = fieldOf(metadata, key);
    if (typeof id === "number") return String(id);
    if (typeof id === "string" && id !== "") return id;
  }
  return null;
}

/** A member of what may be no object at all. */
export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
}
