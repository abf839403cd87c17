import { withTimeout } from "../lib/with-timeout.ts";

/** Often enough for proxies, and for a client that leaves to be noticed soon. */
const HEARTBEAT_MS = 1000;

const HEARTBEAT = new TextEncoder().encode("\n");

/**
 * A JSON answer that may take long. From when `begun` resolves, the answer is sent as a 200 with white space
 * before it, which JSON allows: it keeps the connection alive. What is refused has to be refused before.
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
