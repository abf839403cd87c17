import { withTimeout } from "../lib/with-timeout.ts";

const HEARTBEAT_MS = 5000;
const HEARTBEAT = ": heartbeat\n\n";

/**
 * Returns a stream of server-sent events without names or ids, one per value. Values are requested as the reader
 * consumes them. Comments keep the connection alive while a value is awaited; when the reader leaves, the
 * generator is ended.
 */
export function jsonEvents(
  first: object,
  rest: AsyncGenerator<object, void, undefined>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<object, void>> = Promise.resolve({ value: first });
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const result = await withTimeout(HEARTBEAT_MS, next, () => null);
        if (result === null) {
          controller.enqueue(encoder.encode(HEARTBEAT));
          return;
        }
        if (result.done === true) {
          controller.close();
          return;
        }
        next = rest.next();
        // A failure rejects the next read. If nobody reads on, it must not become an unhandled rejection.
        next.catch(() => {});
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(result.value)}\n\n`));
      },
      cancel: async () => {
        await rest.return();
      },
    },
    { highWaterMark: 0 },
  );
}
