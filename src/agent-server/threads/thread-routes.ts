import { type AgentCall, agentCall } from "../agent-call.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { v7 as uuidv7 } from "uuid";
import { ApiError } from "../../lib/api-error.ts";
import { matchesMetadata } from "../../lib/metadata-filter.ts";
import { uuidParam } from "../../http/path-params.ts";
import { listParam } from "../../http/query-params.ts";
import { createRouter } from "../../http/router.ts";
import { authorize } from "../auth/authorize.ts";
import { threadFor, threadWith } from "../auth/thread-access.ts";
import { describedProject } from "../described-project.ts";
import { requestedRevision } from "../graph-host.ts";
import {
  threadCreateSchema,
  threadPatchSchema,
  threadSchema,
  toThreadTtl,
} from "./thread-schemas.ts";
import { threadFailure } from "./contract/failures.ts";
import type { UpdateStateRequest } from "./contract/thread-requests.ts";
import type { ThreadTtl } from "./storage/thread-ttl.ts";

/** Routes that create, read, change and delete threads. Searches are in `thread-search/`. */
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
    const call = agentCall(c);
    const body = c.req.valid("json");
    const thread_id = body.thread_id ?? uuidv7();
    const if_exists = body.if_exists ?? "raise";
    const value = { thread_id, metadata: body.metadata ?? {}, if_exists };
    const access = await authorize(call, "threads:create", value);
    const { metadata = {} } = access;
    const supersteps = body.supersteps ?? [];
    if (supersteps.length > 0) await requireUpdate(call, thread_id, metadata);
    const created = await threadWith(call, thread_id, access).create({
      scope: call.scope,
      thread_id,
      metadata,
      if_exists,
      ttl: toThreadTtl(body.ttl) ?? (await defaultTtl(call)),
      ...(supersteps.length > 0 ? { replay: toReplay(call, metadata, supersteps) } : {}),
    });
    if (!created.ok) throw threadFailure(created, thread_id);
    return c.json(created.value, 200);
  },
);

threadRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}",
    tags: ["Threads"],
    summary: "Get a thread",
    request: { params, query: z.strictObject({ include: listParam(["ttl"]).optional() }) },
    responses: { 200: oneThread },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { include = [] } = c.req.valid("query");
    const found = await threadFor(agentCall(c), "threads:read", { thread_id });
    const thread = await found.get({ ttl: include.includes("ttl") });
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
    if (!copied.ok && copied.code === "thread_not_found") {
      // Clients expect this status from this route; every other route answers 404.
      throw new ApiError("conflict", "Thread not found");
    }
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
      ttl: await defaultTtl(call),
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
    summary: "Merge metadata into a thread, and set its time to live",
    request: {
      params,
      body: { required: true, content: { "application/json": { schema: threadPatchSchema } } },
    },
    responses: {
      200: oneThread,
      204: { description: "Changed; the answer to a request with `Prefer: return=minimal`" },
    },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { metadata = {}, ttl } = c.req.valid("json");
    const access = await authorize(agentCall(c), "threads:update", { thread_id, metadata });
    const thread = await threadWith(agentCall(c), thread_id, access).patch({
      metadata: access.metadata ?? {},
      ttl: toThreadTtl(ttl),
    });
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

/** Requires permission to update a thread with this metadata, for creating a thread with a state. */
async function requireUpdate(
  call: AgentCall,
  thread_id: string,
  metadata: Record<string, unknown>,
): Promise<void> {
  const { filter } = await authorize(call, "threads:update", { thread_id });
  if (filter !== null && !matchesMetadata(metadata, filter)) {
    throw threadFailure({ code: "thread_not_found" }, thread_id);
  }
}

async function defaultTtl(call: AgentCall): Promise<ThreadTtl | null> {
  return (await describedProject(call)).thread_ttl ?? null;
}

type Superstep = NonNullable<z.infer<typeof threadCreateSchema>["supersteps"]>[number];

/** Returns the update that restores a thread that was recorded elsewhere, superstep by superstep. */
function toReplay(
  call: AgentCall,
  { graph_id: graphId }: Record<string, unknown>,
  supersteps: Superstep[],
): UpdateStateRequest {
  return {
    ...requestedRevision(call),
    checkpoint: null,
    graph_id: typeof graphId === "string" ? graphId : null,
    supersteps: supersteps.map(({ updates }) =>
      updates.map(({ values, command, as_node }) => ({ values: values ?? null, command, as_node })),
    ),
  };
}
