import { createParser } from "eventsource-parser";

/** An event of a run's stream, as the SDK yields it. */
export type RunEvent = { id: string | undefined; event: string; data: unknown };

/** The SDK's types do not declare the type of the id in every mode. */
type SdkEvent = { id?: unknown; event: string; data: unknown };

/** Returns all events of an SDK stream, once it has ended. */
export async function collect(stream: AsyncIterable<SdkEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of stream) events.push(toRunEvent(event));
  return events;
}

/** Reads until `isLast` returns true, and then closes the connection. */
export async function collectUntil(
  stream: AsyncIterable<SdkEvent>,
  isLast: (event: RunEvent) => boolean,
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const sdkEvent of stream) {
    const event = toRunEvent(sdkEvent);
    events.push(event);
    if (isLast(event)) break;
  }
  return events;
}

export function toRunEvent({ id, event, data }: SdkEvent): RunEvent {
  return { id: typeof id === "string" ? id : undefined, event, data };
}

export function dataOf(events: readonly RunEvent[], name: string): unknown[] {
  return events.filter(({ event }) => event === name).map(({ data }) => data);
}

export function namesOf(events: readonly RunEvent[]): string[] {
  return events.map(({ event }) => event);
}

export function idsOf(events: readonly RunEvent[]): (string | undefined)[] {
  return events.map(({ id }) => id);
}

/** Returns "0" to "count - 1". */
export function consecutiveIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index));
}

export type RawStream = { frames: RunEvent[]; comments: string[] };

/**
 * Reads a stream from the wire, with the comments that the SDK hides. Stops when the stream ends or `isEnough` returns
 * true.
 */
export async function readRaw(
  response: Response,
  isEnough: (read: RawStream) => boolean = () => false,
): Promise<RawStream> {
  if (response.body === null) throw new Error("The response has no body");
  const read: RawStream = { frames: [], comments: [] };
  const parser = createParser({
    onEvent: ({ id, event = "message", data }) =>
      read.frames.push({ id, event, data: JSON.parse(data) }),
    onComment: (comment) => read.comments.push(comment),
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return read;
      parser.feed(value);
      if (isEnough(read)) return read;
    }
  } finally {
    await reader.cancel();
  }
}
