import { Agent } from "node:http";
import { startBareWorker } from "./bare-worker.ts";
import { openReader, type StreamReader } from "./stream-reader.ts";

type Events = { count: number; size: number; delay_ms: number };

/** Connections that are opened at the same time. */
const OPENING = 32;

/** A reader's address has these ids, which this Worker ignores. */
const ANY_RUN = { thread_id: "any", run_id: "any" };

/**
 * Sends as many events as a reader of a run gets, in the same time and the same way: from an object through the
 * Worker.
 */
const script = (events: Events): string => `
import { DurableObject } from "cloudflare:workers";
const event = new TextEncoder().encode("event: custom\\ndata: " + "x".repeat(${events.size}) + "\\n\\n");
export class Streams extends DurableObject {
  #begin = Promise.withResolvers();
  begin() {
    this.#begin.resolve();
    this.#begin = Promise.withResolvers();
  }
  open() {
    const begun = this.#begin.promise;
    return new ReadableStream({
      async start(controller) {
        controller.enqueue(event);
        await begun;
        for (let sent = 0; sent < ${events.count}; sent += 1) {
          controller.enqueue(event);
          await scheduler.wait(${events.delay_ms});
        }
        controller.close();
      },
    });
  }
}
export default {
  async fetch(request, { OBJECTS }) {
    const streams = OBJECTS.getByName("one");
    if (request.method === "GET") return new Response(await streams.open());
    await streams.begin();
    return new Response();
  },
};`;

export type BareStreams = {
  pid: () => number;
  /** Opens `count` readers, and resolves when each of them has all events. */
  readTogether: (count: number) => Promise<void>;
  stop: () => Promise<void>;
};

/** Starts a Worker that only streams, in the same workerd: its use of memory is that of workerd itself. */
export async function startBareStreams(folder: string, events: Events): Promise<BareStreams> {
  const { url, pid, stop } = await startBareWorker(folder, {
    script: script(events),
    objects: "Streams",
  });
  return {
    pid,
    readTogether: async (count) => {
      const agent = new Agent({ maxSockets: Infinity });
      try {
        const readers: StreamReader[] = [];
        while (readers.length < count) {
          const next = Math.min(OPENING, count - readers.length);
          const opened = Array.from({ length: next }, () => openReader(url, ANY_RUN, agent));
          readers.push(...(await Promise.all(opened)));
        }
        await fetch(url, { method: "POST" });
        await Promise.all(readers.map(({ ended }) => ended));
      } finally {
        agent.destroy();
      }
    },
    stop,
  };
}
