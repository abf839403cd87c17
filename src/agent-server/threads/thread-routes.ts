import { agentCall } from "../agent-call.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { v7 as uuidv7 } from "uuid";
import { ApiError } from "../../lib/api-error.ts";
import { uuidParam } from "../../http/path-params.ts";
import { createRouter } from "../../http/router.ts";
import { authorize } from "../auth/authorize.ts";
import { threadFor, threadWith } from "../auth/thread-access.ts";
import { requestedRevision } from "../graph-host.ts";
import { threadFailure } from "./contract/failures.ts";
import { threadCreateSchema, threadPatchSchema, threadSchema } from "./thread-schemas.ts";
import type { ThreadHandle } from "./thread-stub.ts";

/** Creates, reads, changes and deletes threads. Searches are in `thread-search/`. */
export const threadRoutes = createRouter();

const params = z.object({ thread_id: uuidParam() });
const oneThread = {
  description: "The thread",
  content: { "application/json": { schema: threadSchema } },
};

threadRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads",
    tags: ["Threads"],
    summary: "Create a thread",
    request: {
      body: { required: true, content: { "application/json": { schema: threadCreateSchema } } },
    },
    responses: { 200: oneThread },
  }),
  async (c) => {
    const body = c.req.valid("json");
    const threadId = body.thread_id ?? uuidv7();
    const if_exists = body.if_exists ?? "raise";
    const value = { thread_id: threadId, metadata: body.metadata ?? {}, if_exists };
    const access = await authorize(agentCall(c), "threads:create", value);
    const { metadata = {} } = access;
    const supersteps = body.supersteps ?? [];
    // This is asked before anything is stored, so that a caller who may not update a thread makes none.
    const replayed =
      supersteps.length > 0
        ? await threadFor(agentCall(c), "threads:update", { thread_id: threadId })
        : null;
    const created = await threadWith(agentCall(c), threadId, access).create({
      scope: c.var.scope,
      thread_id: threadId,
      metadata,
      if_exists,
    });
    if (!created.ok) throw threadFailure(created, threadId);
    if (replayed !== null) {
      const of = { graphId: metadata["graph_id"], ...requestedRevision(agentCall(c)) };
      await replay(replayed, threadId, of, supersteps);
    }
    return c.json(created.value, 200);
  },
);

threadRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}",
    tags: ["Threads"],
    summary: "Get a thread",
    request: { params },
    responses: { 200: oneThread },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const thread = await (await threadFor(agentCall(c), "threads:read", { thread_id })).get();
    if (thread === null) throw threadFailure({ code: "thread_not_found" }, thread_id);
    return c.json(thread, 200);
  },
);

threadRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/{thread_id}/copy",
    tags: ["Threads"],
    summary: "Copy a thread's state and checkpoints into a new thread",
    request: { params },
    responses: { 200: { ...oneThread, description: "The new thread" } },
  }),
  async (c) => {
    const call = agentCall(c);
    const { thread_id } = c.req.valid("param");
    const copied = await (await threadFor(call, "threads:read", { thread_id })).copy();
    if (!copied.ok) throw threadFailure(copied, thread_id);
    const { value: copy } = copied;
    const copyId = uuidv7();
    const value = {
      thread_id: copyId,
      metadata: { ...copy.metadata, thread_id: copyId },
      if_exists: "raise" as const,
    };
    const access = await authorize(call, "threads:create", value);
    const { metadata = {} } = access;
    const created = await threadWith(call, copyId, access).create({
      ...value,
      metadata,
      scope: call.scope,
      copy,
    });
    if (!created.ok) throw threadFailure(created, copyId);
    return c.json(created.value, 200);
  },
);

threadRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/threads/{thread_id}",
    tags: ["Threads"],
    summary: "Merge metadata into a thread",
    request: {
      params,
      body: { required: true, content: { "application/json": { schema: threadPatchSchema } } },
    },
    responses: {
      200: oneThread,
      204: { description: "Changed; asked for with `Prefer: return=minimal`" },
    },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { metadata = {} } = c.req.valid("json");
    const access = await authorize(agentCall(c), "threads:update", { thread_id, metadata });
    const thread = await threadWith(agentCall(c), thread_id, access).patch(access.metadata ?? {});
    if (thread === null) throw new ApiError("not_found", "Thread not found");
    if (c.req.header("prefer")?.includes("return=minimal")) return c.body(null, 204);
    return c.json(thread, 200);
  },
);

threadRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/threads/{thread_id}",
    tags: ["Threads"],
    summary: "Delete a thread with its runs and checkpoints",
    request: { params },
    responses: { 204: { description: "Deleted" } },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const deleted = await (await threadFor(agentCall(c), "threads:delete", { thread_id })).remove();
    if (!deleted) throw threadFailure({ code: "thread_not_found" }, thread_id);
    return c.body(null, 204);
  },
);

type Superstep = NonNullable<z.infer<typeof threadCreateSchema>["supersteps"]>[number];

/** Writes the state of a thread that was recorded elsewhere, superstep by superstep. */
async function replay(
  thread: ThreadHandle,
  threadId: string,
  { graphId, revision_id }: { graphId: unknown; revision_id: string | null },
  supersteps: Superstep[],
): Promise<void> {
  const written = await thread.updateState({
    revision_id,
    checkpoint: null,
    graph_id: typeof graphId === "string" ? graphId : null,
    supersteps: supersteps.map(({ updates }) =>
      updates.map(({ values, command, as_node }) => ({ values: values ?? null, command, as_node })),
    ),
  });
  if (!written.ok) throw threadFailure(written, threadId);
}
