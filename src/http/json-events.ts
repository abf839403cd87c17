import { withTimeout } from "../lib/with-timeout.ts";

const HEARTBEAT_MS = 5000;
const HEARTBEAT = ": heartbeat\n\n";

/**
 * Server-sent events without names or ids, one for each value, which are asked for as the reader takes them. A
 * comment keeps the connection alive meanwhile; a reader that leaves ends the values.
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
        // Whoever reads on is told of a failure; nobody has to.
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
