import { findThreads } from "../../query/threads.ts";
import type { RunSelection } from "../../shard/selection.ts";
import type { ThreadTotals } from "../../shard/shard-threads.ts";
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
