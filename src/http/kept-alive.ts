import { withTimeout } from "../lib/with-timeout.ts";

/** Frequent enough for the time-outs of proxies, and to notice soon that a client has left. */
const HEARTBEAT_MS = 1000;

const HEARTBEAT = new TextEncoder().encode("\n");

/**
 * Keeps the connection of a slow JSON response alive. Once `begun` resolves, the response is sent as a 200 whose
 * JSON is preceded by white space, which JSON allows. Refusals must therefore happen before `begun` resolves.
 */
export async function keptAlive(
  answer: Promise<Response>,
  begun: Promise<void>,
): Promise<Response> {
  const early = await Promise.race([answer, begun]);
  if (early !== undefined) return early;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const response = await withTimeout(HEARTBEAT_MS, answer, () => null);
        if (response === null) {
          controller.enqueue(HEARTBEAT);
          return;
        }
        controller.enqueue(new Uint8Array(await response.arrayBuffer()));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "application/json" } });
}
