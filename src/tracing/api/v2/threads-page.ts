import type { Micros } from "../../../lib/time.ts";

/** Threads are sorted by their latest start, the latest first, and then by their ids. */
type ThreadKey = { threadId: string; maxStart: Micros };

/** The last thread of a page. Thread ids can be any text, so `id` is percent-encoded. */
export type ThreadPosition = { startTime: Micros; id: string };

/** Returns the threads of a page and the position of the next page; null if there is none. */
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

/** Returns the id unchanged if it cannot be decoded: a client may send a cursor of another kind of page. */
function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
