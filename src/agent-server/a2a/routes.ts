import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { jsonEvents } from "../../http/json-events.ts";
import { keptAlive } from "../../http/kept-alive.ts";
import { createRouter } from "../../http/router.ts";
import { type ResponseConfig, streamResponse } from "../../http/streamed-response.ts";
import { ApiError } from "../../lib/api-error.ts";
import { agentCall } from "../agent-call.ts";
import { assistantNotFound } from "../assistants/assistant-service.ts";
import { findAssistant, resolveAssistant } from "../assistants/resolve-assistant.ts";
import { toCardJson } from "./agent-card.ts";
import { isStreamed, serveRequest } from "./serve-request.ts";

/** Routes of the Agent2Agent protocol: each assistant is an agent, a thread is a context, a run is a task. */
export const a2aRoutes = createRouter();

const params = z.object({ assistant_id: z.string() });

const request = z.unknown().openapi({ description: "A JSON-RPC 2.0 request." });

const card: ResponseConfig = {
  description: "The agent card",
  content: { "application/json": { schema: z.record(z.string(), z.unknown()) } },
};

a2aRoutes.openapi(
  createRoute({
    method: "post",
    path: "/a2a/{assistant_id}",
    tags: ["A2A"],
    summary: "Send a request of the Agent2Agent protocol to an assistant",
    request: {
      params,
      body: { required: true, content: { "application/json": { schema: request } } },
    },
    responses: {
      200: {
        description: "A JSON-RPC response, or a stream of them as server-sent events",
        content: {
          "application/json": { schema: z.unknown() },
          "text/event-stream": { schema: z.string() },
        },
      },
      400: {
        description: "A JSON-RPC error, or an error about the HTTP request",
        content: { "application/json": { schema: z.unknown() } },
      },
    },
  }),
  async (c) => {
    const body: unknown = c.req.valid("json");
    if (isStreamed(body) && !c.req.header("accept")?.includes("text/event-stream")) {
      throw new ApiError("bad_request", "The header Accept must name text/event-stream");
    }
    const begun = Promise.withResolvers<void>();
    return keptAlive(answer(c, body, begun.resolve), begun.promise);
  },
);

a2aRoutes.openapi(
  createRoute({
    method: "get",
    path: "/a2a/{assistant_id}/.well-known/agent-card.json",
    tags: ["A2A"],
    summary: "Get the agent card of an assistant",
    request: { params },
    responses: { 200: card },
  }),
  (c) => showCard(c, c.req.valid("param").assistant_id),
);

a2aRoutes.openapi(
  createRoute({
    method: "get",
    path: "/.well-known/agent-card.json",
    tags: ["A2A"],
    summary: "Get the agent card of an assistant",
    request: { query: z.strictObject({ assistant_id: z.string().min(1) }) },
    responses: { 200: card },
  }),
  (c) => showCard(c, c.req.valid("query").assistant_id),
);

async function answer(c: AppContext, body: unknown, begun: () => void): Promise<Response> {
  const call = agentCall(c);
  const assistant = await resolveAssistant(call, c.req.param("assistant_id") ?? "");
  const url = urlOf(c, assistant.assistant_id);
  const answered = await serveRequest(call, assistant, body, { url, begun });
  if (answered.kind !== "stream") return c.json(answered.body, answered.kind === "one" ? 200 : 400);
  return streamResponse(c, "events", jsonEvents(answered.first, answered.rest));
}

async function showCard(c: AppContext, idOrGraph: string): Promise<Response> {
  const call = agentCall(c);
  const assistant = await findAssistant(call, idOrGraph);
  if (assistant === null) throw assistantNotFound();
  return c.json(toCardJson(assistant, urlOf(c, assistant.assistant_id)));
}

/** Returns the address of an assistant's endpoint, derived from the address of this request. */
function urlOf(c: AppContext, assistantId: string): string {
  const { origin, pathname } = new URL(c.req.url);
  const { path } = c.var.arrival;
  const prefix = pathname.endsWith(path) ? pathname.slice(0, -path.length) : "";
  return `${origin}${prefix}/a2a/${assistantId}`;
}
