import { startBareWorker } from "./bare-worker.ts";

export type BareSockets = {
  /** Base URL at which WebSockets are opened, for a thread with any id. */
  url: string;
  pid: () => number;
  /** Sends all events to every WebSocket of a thread. */
  begin: (threadId: string) => Promise<void>;
  stop: () => Promise<void>;
};

/** Returns an event of the streaming protocol with `size` characters of data, as long as the platform's. */
const eventText = (size: number): string =>
  JSON.stringify({
    type: "event",
    event_id: "1000",
    seq: 1000,
    method: "custom",
    params: { namespace: [], timestamp: 1_700_000_000_000, data: { payload: "x".repeat(size) } },
  });

/**
 * Handles WebSockets as the platform does: an object that may hibernate accepts them through the Worker, and sends
 * each text to each of them.
 */
const script = ({ count, size }: { count: number; size: number }): string => `
import { DurableObject } from "cloudflare:workers";
const text = ${JSON.stringify(eventText(size))};
export class Sockets extends DurableObject {
  fetch() {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }
  webSocketMessage(socket) {
    socket.send("subscribed");
  }
  begin() {
    const sockets = this.ctx.getWebSockets();
    for (let sent = 0; sent < ${count}; sent += 1) for (const socket of sockets) socket.send(text);
  }
}
export default {
  async fetch(request, { OBJECTS }) {
    const sockets = OBJECTS.getByName(new URL(request.url).pathname.split("/")[2]);
    if (request.headers.get("upgrade") !== null) return sockets.fetch(request);
    await sockets.begin();
    return new Response();
  },
};`;

/**
 * Starts a Worker that only sends texts to WebSockets. One system call for each text is the least that
 * workerd needs.
 */
export async function startBareSockets(
  folder: string,
  events: { count: number; size: number },
): Promise<BareSockets> {
  const { url, pid, stop } = await startBareWorker(folder, {
    script: script(events),
    objects: "Sockets",
  });
  return {
    url,
    pid,
    begin: async (threadId) => {
      await fetch(`${url}/threads/${threadId}`, { method: "POST" });
    },
    stop,
  };
}
