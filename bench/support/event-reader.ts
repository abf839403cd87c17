import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { clientTextFrame, TextFrameCounter } from "./websocket-frames.ts";

/** A connection that reads the events of a thread by the streaming protocol. */
export type EventReader = {
  /** Resolves when the expected number of graph events has arrived. */
  ended: Promise<void>;
  leave: () => void;
};

const CHANNELS = ["custom"];

/** The start of each event. One chunk may contain several events, or a part of one. */
const EVENT_START = Buffer.from("event: custom\n");

export async function openSse(
  url: string,
  threadId: string,
  { count, agent }: { count: number; agent: Agent },
): Promise<EventReader> {
  const asked = request(`${url}/threads/${threadId}/stream/events`, {
    method: "POST",
    agent,
    headers: { "content-type": "application/json" },
  });
  asked.end(JSON.stringify({ channels: CHANNELS }));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`A reader got ${response.statusCode}`);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  ended.catch(() => undefined);
  let events = 0;
  let tail = Buffer.alloc(0);
  response.on("data", (chunk: Buffer) => {
    const bytes = Buffer.concat([tail, chunk]);
    for (let at = bytes.indexOf(EVENT_START); at !== -1; at = bytes.indexOf(EVENT_START, at + 1)) {
      events += 1;
    }
    // The rest is shorter than the text that is searched for, so that no event is counted twice.
    tail = bytes.subarray(Math.max(0, bytes.length - EVENT_START.length + 1));
    if (events >= count) resolve();
  });
  response.once("error", reject);
  response.once("end", () => reject(new Error("A stream ended before its events had come")));
  return { ended, leave: () => asked.destroy() };
}

export async function openWebSocket(
  url: string,
  threadId: string,
  { count, agent }: { count: number; agent: Agent },
): Promise<EventReader> {
  const asked = request(`${url}/threads/${threadId}/stream/events`, {
    agent,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      // Browsers send this header, too.
      "sec-websocket-extensions": "permessage-deflate; client_max_window_bits",
    },
  });
  asked.end();
  const [, socket] = (await once(asked, "upgrade")) as [IncomingMessage, Socket];
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const { promise: subscribed, resolve: isSubscribed } = Promise.withResolvers<void>();
  ended.catch(() => undefined);
  const frames = new TextFrameCounter();
  socket.on("data", (chunk: Buffer) => {
    const messages = frames.add(chunk);
    // The first message is the answer to the subscription.
    if (messages > 0) isSubscribed();
    if (messages > count) resolve();
  });
  socket.once("error", reject);
  socket.once("close", () => reject(new Error("A connection ended before its events had come")));
  const command = { id: 1, method: "subscription.subscribe", params: { channels: CHANNELS } };
  socket.write(clientTextFrame(JSON.stringify(command)));
  await subscribed;
  return { ended, leave: () => socket.destroy() };
}
