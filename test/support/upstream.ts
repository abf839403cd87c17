import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Upstream = {
  /** Base URL, without a trailing slash. */
  url: string;
  port: number;
  /** All requests so far. */
  seen: { method: string; url: string; headers: Record<string, unknown>; body: string }[];
  close: () => Promise<void>;
};

/** Starts a server that stands for one on the network; `answer` gets each request once its body has arrived. */
export async function startUpstream(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<Upstream> {
  const seen: Upstream["seen"] = [];
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("latin1");
      const { method = "", url = "", headers } = request;
      seen.push({ method, url, headers, body });
      answer(request, response, body);
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}
