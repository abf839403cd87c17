import { mapLimited } from "../../lib/map-limited.ts";
import type { AgentCall } from "../agent-call.ts";
import { threadFor } from "../auth/thread-access.ts";
import type { ThreadTtl } from "../threads/storage/thread-ttl.ts";

/** An invocation has six connections. */
const THREADS_AT_ONCE = 6;

/**
 * Removes threads, or all but their latest checkpoints, and tells how many it were. Those that the caller does not see
 * count like those that are not there. Throws before anything is removed when a handler of the project refuses one.
 */
export async function pruneThreads(
  call: AgentCall,
  threadIds: readonly string[],
  strategy: ThreadTtl["strategy"],
): Promise<number> {
  const event = strategy === "delete" ? "threads:delete" : "threads:update";
  const threads = await mapLimited([...new Set(threadIds)], THREADS_AT_ONCE, (thread_id) =>
    threadFor(call, event, { thread_id }),
  );
  const results = await mapLimited(threads, THREADS_AT_ONCE, (thread) => thread.prune(strategy));
  return results.filter((result) => result === "pruned").length;
}
