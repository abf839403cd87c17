import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { keptAlive } from "../../http/kept-alive.ts";
import { createRouter } from "../../http/router.ts";
import { ApiError } from "../../lib/api-error.ts";
import { agentCall } from "../agent-call.ts";
import { serveMessage } from "./serve-message.ts";

/** Routes of the Model Context Protocol over streamable HTTP, without sessions: each assistant is a tool. */
export const mcpRoutes = createRouter();

const ACCEPTED = ["application/json", "text/event-stream"];

const message = z.unknown().openapi({ description: "A JSON-RPC 2.0 message." });

for (const path of ["/mcp", "/mcp/"]) {
  mcpRoutes.openapi(
    createRoute({
      method: "post",
      path,
      tags: ["MCP"],
      summary: "Send a message of the Model Context Protocol",
      request: {
        body: { required: true, content: { "application/json": { schema: message } } },
      },
      responses: {
        200: {
          description: "The JSON-RPC response",
          content: { "application/json": { schema: z.unknown() } },
        },
        202: { description: "The notification or response was accepted" },
        400: {
          description: "A JSON-RPC error, or an error about the HTTP request",
          content: { "application/json": { schema: z.unknown() } },
        },
      },
    }),
    async (c) => answer(c, c.req.valid("json")),
  );

  mcpRoutes.openapi(
    createRoute({
      method: "delete",
      path,
      tags: ["MCP"],
      summary: "End a session (sessions are not supported)",
      responses: { 404: { description: "There is no session" } },
    }),
    () => {
      throw new ApiError("not_found", "There are no sessions to end");
    },
  );
}

async function answer(c: AppContext, body: unknown): Promise<Response> {
  const call = agentCall(c);
  const accept = c.req.header("accept") ?? "";
  if (!ACCEPTED.every((type) => accept.includes(type))) {
    throw new ApiError("bad_request", `The header Accept must name ${ACCEPTED.join(" and ")}`);
  }
  if (Array.isArray(body)) {
    throw new ApiError("bad_request", "Batches are not supported: send one message at a time");
  }
  const begun = Promise.withResolvers<void>();
  return keptAlive(serveMessage(call, c.req.raw, body, begun.resolve), begun.promise);
}
