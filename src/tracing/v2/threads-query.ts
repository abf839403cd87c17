import { findThreads } from "../query/threads.ts";
import type { RunSelection } from "../query/selection.ts";
import type { ThreadTotals } from "../run-shard/shard-threads.ts";
import type { RunPosition } from "../run-shard/run-page.ts";
import type { TimeWindow } from "./window.ts";

export type ThreadsQuery = {
  workspaceId: string;
  projectId: string;
  /** Its end is exclusive. */
  window: TimeWindow;
  /** Each has to hold for one of the thread's traces at least, not all for the same one. */
  narrowedBy: readonly Pick<RunSelection, "filter" | "treeFilter">[];
};

/** Threads with a turn in the window, the latest first, with the totals of all their turns there. */
export async function queryThreads(env: Env, query: ThreadsQuery): Promise<ThreadTotals[]> {
  const { workspaceId, projectId, window } = query;
  const find = (selection: RunSelection): Promise<ThreadTotals[]> =>
    findThreads(env, {
      workspaceId,
      projectIds: [projectId],
      selection: { ...selection, from: window.from, to: window.to - 1 },
    });
  const [threads, ...matching] = await Promise.all([find({}), ...query.narrowedBy.map(find)]);
  const allowed = matching.map((some) => new Set(some.map(({ threadId }) => threadId)));
  return threads.filter(({ threadId }) => allowed.every((ids) => ids.has(threadId)));
}

/** The threads of a page, in the order of `queryThreads`, and where the next one begins. */
export function threadsPage(
  threads: readonly ThreadTotals[],
  after: RunPosition | null,
  limit: number,
): { items: ThreadTotals[]; next: RunPosition | null } {
  const rest = after === null ? threads : threads.filter((thread) => isBehind(thread, after));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const next = last === undefined || rest.length === items.length ? null : positionOf(last);
  return { items, next };
}

function isBehind({ maxStart, threadId }: ThreadTotals, after: RunPosition): boolean {
  if (maxStart !== after.startTime) return maxStart < after.startTime;
  return threadId > decodeURIComponent(after.id);
}

/** Ids of threads are any text; in a cursor they have to be ASCII. */
function positionOf({ maxStart, threadId }: ThreadTotals): RunPosition {
  return { startTime: maxStart, id: encodeURIComponent(threadId.toWellFormed()) };
}
