import { createRoute } from "@hono/zod-openapi";
import { createRouter } from "../../http/router.ts";
import { agentCall } from "../agent-call.ts";
import { pruneThreads } from "./prune-threads.ts";
import { prunedSchema, pruneSchema } from "./schemas.ts";

/** What of threads goes on request. That by time is a matter of each thread's object. */
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
        description: "How many threads were there and have been pruned",
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
