import type { AppContext } from "./app-types.ts";
import type { RouteConfig } from "@hono/zod-openapi";

/**
 * A documented response whose handler writes the body itself: a stream, or JSON text made elsewhere. With this
 * type as annotation, the document keeps the response and the handler need not match an inferred body type.
 */
export type ResponseConfig = RouteConfig["responses"][string];

const CONTENT_TYPES = { events: "text/event-stream", json: "application/json" } as const;

/** Responds with a body that a ThreadObject writes while the client reads. Proxies must not buffer it. */
export function streamResponse(
  c: AppContext,
  kind: keyof typeof CONTENT_TYPES,
  stream: ReadableStream<Uint8Array>,
): Response {
  c.header("Content-Type", CONTENT_TYPES[kind]);
  c.header("Cache-Control", "no-cache, no-transform");
  c.header("X-Accel-Buffering", "no");
  return c.body(stream);
}
