import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "langsmith";
import type { TraceEvent } from "./sample-trace.ts";
import { manualClient, sendEvents } from "./send-events.ts";

/** A request as the official client sent it. */
export type RecordedRequest = {
  contentType: string;
  contentEncoding: string | undefined;
  body: Buffer<ArrayBuffer>;
  /** Number of runs that it creates; other runs it only updates. */
  runs: number;
};

/**
 * Makes the official client send the events to a server that answers as the platform does, and records the bodies.
 * `info` is the platform's answer to `/info`, from which the client decides how to send.
 */
export async function recordRequests(
  info: unknown,
  eventsFor: (client: Client) => TraceEvent[],
): Promise<RecordedRequest[]> {
  const received: Omit<RecordedRequest, "runs">[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const answer = (status: number, value: unknown): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(value));
      };
      if (request.url === "/info") return answer(200, info);
      if (request.url !== "/runs/multipart") return answer(400, { detail: request.url });
      received.push({
        contentType: request.headers["content-type"] ?? "",
        contentEncoding: request.headers["content-encoding"],
        body: Buffer.concat(chunks),
      });
      answer(202, { message: "Runs accepted" });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const client = manualClient(`http://127.0.0.1:${port}`, "not a key");
    const recorded: RecordedRequest[] = [];
    await sendEvents(client, eventsFor(client), 1, ({ runs }) => {
      const request = received[recorded.length];
      if (request === undefined || received.length > recorded.length + 1) {
        throw new Error(`the client sent ${received.length} requests, not one for each batch`);
      }
      recorded.push({ ...request, runs });
    });
    return recorded;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
