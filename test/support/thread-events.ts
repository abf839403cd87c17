import { EventSourceParserStream } from "eventsource-parser/stream";
import type { TestServer } from "./server.ts";

/** An event of the streaming protocol, as it is received. */
export type ThreadEvent = {
  type: "event";
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: string[]; timestamp: number; node?: string; data: unknown };
};

export type Answer = {
  type: "success" | "error";
  id: number | null;
  result?: unknown;
  error?: string;
  message?: string;
  meta?: unknown;
};

const ALL_CHANNELS = ["values", "updates", "messages", "tools", "lifecycle", "input", "tasks"];

const ENDS: ReadonlySet<unknown> = new Set(["completed", "failed", "interrupted"]);

/** Returns the lifecycle events of the root of each run. */
export function lifecycleOf(events: readonly ThreadEvent[]): unknown[] {
  return events
    .filter(({ method, params }) => method === "lifecycle" && params.namespace.length === 0)
    .map(({ params }) => (params.data as { event: string }).event);
}

export function eventsOf(events: readonly ThreadEvent[], wanted: string): unknown[] {
  return events.filter(({ method }) => method === wanted).map(({ params }) => params.data);
}

function ended(events: readonly ThreadEvent[]): number {
  return lifecycleOf(events).filter((event) => ENDS.has(event)).length;
}

/** Reads server-sent events of a thread until `runs` runs have ended. */
export async function readEvents(
  server: Pick<TestServer, "fetch">,
  threadId: string,
  body: { channels?: string[]; since?: number; [key: string]: unknown },
  runs: number,
  headers: Record<string, string> = {},
): Promise<ThreadEvent[]> {
  const response = await server.fetch(`/threads/${threadId}/stream/events`, {
    method: "POST",
    headers,
    body: JSON.stringify({ channels: ALL_CHANNELS, ...body }),
  });
  if (!response.ok || response.body === null) {
    throw new Error(`${response.status}: ${await response.text()}`);
  }
  const events: ThreadEvent[] = [];
  const parsed = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, id, data } of parsed) {
    const told = JSON.parse(data) as ThreadEvent;
    if (told.method !== event || told.event_id !== id) throw new Error(`Odd event: ${data}`);
    events.push(told);
    if (ended(events) >= runs) break;
  }
  return events;
}

/** Opens a WebSocket of the streaming protocol. */
export async function openSocket(
  server: Pick<TestServer, "url">,
  threadId: string,
  headers: Record<string, string> = {},
) {
  const url = `${server.url.replace("http", "ws")}/threads/${threadId}/stream/events`;
  // Node's WebSocket accepts headers, unlike a browser's.
  const socket = new WebSocket(url, { headers } as never);
  const events: ThreadEvent[] = [];
  const waiting = new Map<number | null, (answer: Answer) => void>();
  let check = (): void => {};
  socket.addEventListener("message", ({ data }) => {
    const told = JSON.parse(String(data)) as ThreadEvent | Answer;
    if (told.type === "event") events.push(told);
    else waiting.get(told.id)?.(told);
    check();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error("The WebSocket was refused")));
  });
  let nextId = 1;
  const close = (): void => socket.close();
  return {
    events,
    closed,
    close,
    send: (text: string) => socket.send(text),
    command: (method: string, params: object = {}): Promise<Answer> => {
      const id = nextId;
      nextId += 1;
      const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params }));
      return answer;
    },
    /** Resolves with the next answer that names no command. */
    nameless: () => new Promise<Answer>((resolve) => waiting.set(null, resolve)),
    /** Resolves with all events so far, once `runs` runs have ended. */
    untilEnded: (runs: number): Promise<ThreadEvent[]> =>
      new Promise((resolve) => {
        check = () => {
          if (ended(events) >= runs) resolve([...events]);
        };
        check();
      }),
    [Symbol.asyncDispose]: async () => close(),
  };
}
