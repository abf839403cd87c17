import type { AppContext } from "../../http/app-types.ts";

const CONTENT_TYPES = { events: "text/event-stream", json: "application/json" } as const;

/** A body that a ThreadObject writes while the client reads. Proxies must not buffer it. */
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
