import { createRoute, z } from "@hono/zod-openapi";
import { ApiError } from "../../../lib/api-error.ts";
import { noteIgnored } from "../../../http/ignored-fields.ts";
import { jsonBodyOf } from "../../../http/json-body.ts";
import { uuidParam } from "../../../http/path-params.ts";
import type { UnknownMembers } from "../../../lib/unknown-members.ts";
import { createRouter } from "../../../http/router.ts";
import { streamResponse } from "../../../http/streamed-response.ts";
import { agentCall } from "../../agent-call.ts";
import { authorize } from "../../auth/authorize.ts";
import { threadFor } from "../../auth/thread-access.ts";
import { upgradeRequest } from "../protocol/connection.ts";
import { filterMembers, toEventFilter } from "../protocol/subscriptions.ts";
import { connectThread } from "../thread-stub.ts";
import { executeCommand } from "./execute-command.ts";

/** Routes of the threads' streaming protocol: commands, and events by server-sent events or a WebSocket. */
export const protocolRoutes = createRouter();

const params = z.object({ thread_id: uuidParam() });

const commandSchema = z
  .strictObject({
    id: z.int().min(0),
    method: z.string().min(1),
    params: z.record(z.string(), z.unknown()).nullish(),
  })
  .openapi("ProtocolCommand");

const answerSchema = z
  .union([
    z.object({
      type: z.literal("success"),
      id: z.int(),
      result: z.record(z.string(), z.unknown()),
      meta: z.object({ thread_id: z.string(), applied_through_seq: z.int().optional() }).optional(),
    }),
    z.object({
      type: z.literal("error"),
      id: z.int().nullable(),
      error: z.string(),
      message: z.string(),
    }),
  ])
  .openapi("ProtocolAnswer");

const eventsSchema = z.strictObject(filterMembers).openapi("ProtocolEventsRequest");

protocolRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/{thread_id}/commands",
    tags: ["Thread streaming"],
    summary: "Perform a command of the streaming protocol",
    request: { params, body: jsonBodyOf(commandSchema) },
    responses: {
      200: {
        description: "The result of the command, or why it was refused",
        content: { "application/json": { schema: answerSchema } },
      },
    },
  }),
  async (c) => {
    const { id, method, params: given } = c.req.valid("json");
    const command = { id, method, params: given ?? {} };
    const context = {
      call: agentCall(c),
      threadId: c.req.valid("param").thread_id,
      note: (members: UnknownMembers) => noteIgnored(c, [members]),
    };
    const answer = await executeCommand(context, command);
    return c.json(answer, 200);
  },
);

protocolRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/{thread_id}/stream/events",
    tags: ["Thread streaming"],
    summary: "Read the events of a thread as server-sent events",
    request: { params, body: jsonBodyOf(eventsSchema) },
    responses: {
      200: {
        description:
          "Server-sent events of all runs of the thread, which may not exist yet; the stream ends when the thread is deleted",
        content: { "text/event-stream": { schema: z.string() } },
      },
    },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { since, ...wanted } = c.req.valid("json");
    const thread = await threadFor(agentCall(c), "threads:read", { thread_id });
    const opened = await thread.streamEvents(toEventFilter(wanted), since ?? 0);
    if (opened.ok) return streamResponse(c, "events", opened.value);
    throw new ApiError("rate_limited", TOO_MANY);
  },
);

protocolRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/stream/events",
    tags: ["Thread streaming"],
    summary: "Open a WebSocket for the commands and events of a thread",
    request: { params },
    responses: { 101: { description: "The WebSocket" } },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const call = agentCall(c);
    const { filter } = await authorize(call, "threads:read", { thread_id });
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
      throw new ApiError(
        "bad_request",
        "This address is for WebSockets: upgrade the connection, or POST the channels to read server-sent events",
      );
    }
    const { scope, revision, principal } = call;
    const upgrade = upgradeRequest({ thread_id, caller: { scope, revision, principal }, filter });
    if (upgrade === null) {
      throw new ApiError(
        "bad_request",
        "The user data from the project's authentication is too long for a WebSocket: read server-sent events instead",
      );
    }
    const answer = await connectThread(c.env, scope, thread_id, upgrade);
    if (answer.status === 429) throw new ApiError("rate_limited", TOO_MANY);
    return new Response(null, { status: answer.status, webSocket: answer.webSocket });
  },
);

const TOO_MANY = "The thread has 1000 readers: close some of them, or try again later";
