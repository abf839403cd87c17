import { createRoute } from "@hono/zod-openapi";
import { createRouter } from "../../http/router.ts";
import { agentCall, type AgentCall } from "../agent-call.ts";
import { prunedSchema, pruneSchema } from "./thread-schemas.ts";
import { CONNECTIONS, mapLimited } from "../../lib/map-limited.ts";
import { threadFor } from "../auth/thread-access.ts";
import type { ThreadTtl } from "./storage/thread-ttl.ts";

/** Routes that prune threads on request. Pruning by time to live is done by each thread's object. */
export const threadRetentionRoutes = createRouter();

threadRetentionRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/prune",
    tags: ["Threads"],
    summary: "Delete threads, or all of their checkpoints but the latest",
    request: {
      body: { required: true, content: { "application/json": { schema: pruneSchema } } },
    },
    responses: {
      200: {
        description: "The number of threads that have been pruned",
        content: { "application/json": { schema: prunedSchema } },
      },
    },
  }),
  async (c) => {
    const { thread_ids, strategy } = c.req.valid("json");
    const pruned_count = await pruneThreads(agentCall(c), thread_ids, strategy ?? "delete");
    return c.json({ pruned_count }, 200);
  },
);

/**
 * Removes threads, or all but their latest checkpoints, and returns the number of pruned threads. Threads that the
 * caller may not see are treated as missing. If a handler of the project refuses one of them, throws before
 * anything is removed.
 */
async function pruneThreads(
  call: AgentCall,
  threadIds: readonly string[],
  strategy: ThreadTtl["strategy"],
): Promise<number> {
  const event = strategy === "delete" ? "threads:delete" : "threads:update";
  const threads = await mapLimited([...new Set(threadIds)], CONNECTIONS, (thread_id) =>
    threadFor(call, event, { thread_id }),
  );
  const results = await mapLimited(threads, CONNECTIONS, (thread) => thread.prune(strategy));
  return results.filter((result) => result === "pruned").length;
}
