import type { Micros } from "../../../lib/time.ts";

/** Threads come by their latest start and, where that is equal, by their ids. */
type ThreadKey = { threadId: string; maxStart: Micros };

/** The last thread of a page; ids of threads are any text, so that this one is percent-encoded. */
export type ThreadPosition = { startTime: Micros; id: string };

/** The threads of a page, and where the next one begins. */
export function threadsPage<Thread extends ThreadKey>(
  threads: readonly Thread[],
  after: ThreadPosition | null,
  limit: number,
): { items: Thread[]; next: ThreadPosition | null } {
  const rest = after === null ? threads : threads.filter((thread) => isBehind(thread, after));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const next = last === undefined || rest.length === items.length ? null : positionOf(last);
  return { items, next };
}

function isBehind({ maxStart, threadId }: ThreadKey, after: ThreadPosition): boolean {
  if (maxStart !== after.startTime) return maxStart < after.startTime;
  return threadId > decode(after.id);
}

function positionOf({ maxStart, threadId }: ThreadKey): ThreadPosition {
  return { startTime: maxStart, id: encodeURIComponent(threadId.toWellFormed()) };
}

/** A cursor of another kind of page may have been sent. */
function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
