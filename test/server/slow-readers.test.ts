import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { peakMemory } from "../support/process-memory.ts";
import { testWithPlatform } from "../support/platform-server.ts";
import type { TestServer } from "../support/server.ts";
import { eventsOf, openSocket, readEvents, type ThreadEvent } from "../support/thread-events.ts";

// The server is reached directly, as the proxy in front of the other test server has buffers.
const test = testWithPlatform();

const CHANNELS = ["custom", "lifecycle"];

/** Number of slow readers of each kind. */
const SLOW = 10;

const INPUT = { count: 3000, size: 10_000 };

type Written = { payload: { index: number } };

async function answered(asked: ClientRequest, event: string): Promise<[IncomingMessage, Socket]> {
  return (await once(asked, event)) as [IncomingMessage, Socket];
}

/** Requests the thread's events, and reads only the head of the response. */
async function openSlowStream(server: TestServer, threadId: string): Promise<Socket> {
  const asked = request(`${server.url}/threads/${threadId}/stream/events`, {
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json" },
  });
  asked.end(JSON.stringify({ channels: CHANNELS }));
  const [response] = await answered(asked, "response");
  response.socket.pause();
  response.pause();
  return response.socket;
}

/** Subscribes by a WebSocket as browsers do, and reads nothing. */
async function openSlowSocket(server: TestServer, threadId: string) {
  const asked = request(`${server.url}/threads/${threadId}/stream/events`, {
    agent: false,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      "sec-websocket-extensions": "permessage-deflate; client_max_window_bits",
    },
  });
  asked.end();
  const [{ headers }, socket] = await answered(asked, "upgrade");
  socket.pause();
  const command = { id: 1, method: "subscription.subscribe", params: { channels: CHANNELS } };
  const text = Buffer.from(JSON.stringify(command));
  // The frame is a masked text of less than 126 bytes, with zeros as its mask.
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
  return { headers, socket };
}

const indexes = (events: readonly ThreadEvent[]): number[] =>
  eventsOf(events, "custom").map((data) => (data as Written).payload.index);

test("readers that read nothing delay no other reader, and cost no memory", async ({
  server,
  expect,
}) => {
  const client = server.client();
  const run = async (slow: number): Promise<number> => {
    const { thread_id } = await client.threads.create();
    const opened: Socket[] = [];
    try {
      for (let index = 0; index < slow; index += 1) {
        opened.push(await openSlowStream(server, thread_id));
        opened.push((await openSlowSocket(server, thread_id)).socket);
      }
      await using socket = await openSocket(server, thread_id);
      await socket.command("subscription.subscribe", { channels: CHANNELS });
      const expected = Array.from({ length: INPUT.count }, (_, index) => index);
      return await peakMemory(async () => {
        const streamed = readEvents(server, thread_id, { channels: CHANNELS }, 1);
        await socket.command("run.start", { assistant_id: "custom_stream", input: INPUT });
        for (const events of await Promise.all([streamed, socket.untilEnded(1)])) {
          expect(indexes(events)).toEqual(expected);
        }
      });
    } finally {
      for (const socket of opened) socket.destroy();
    }
  };
  await run(0);
  const without = await run(0);
  const withSlow = await run(SLOW);
  // The events for the WebSockets alone would take much more if they were kept in memory.
  expect(withSlow).toBeLessThan(without + (SLOW * INPUT.count * INPUT.size) / 2);
});

test("a WebSocket is not compressed, even if its client supports it", async ({
  server,
  expect,
}) => {
  const { thread_id } = await server.client().threads.create();
  const { headers, socket } = await openSlowSocket(server, thread_id);
  socket.destroy();
  expect(headers["sec-websocket-extensions"]).toBe(undefined);
});
