import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type TokenRequest = { path: string; form: Record<string, string>; headers: object };

export type TokenEndpoint = {
  authUrl: string;
  tokenUrl: string;
  requests: TokenRequest[];
  /** The answer from now on: a value as JSON, or a text as it is; null breaks the connection. */
  answer: { status?: number; body: unknown; headers?: Record<string, string> } | null;
  close: () => Promise<void>;
};

/** Starts a provider with scripted answers, all of which real servers give. */
export async function startTokenEndpoint(path = "/token"): Promise<TokenEndpoint> {
  const http = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const form = Object.fromEntries(new URLSearchParams(text));
      endpoint.requests.push({ path: request.url ?? "", form, headers: request.headers });
      const { answer } = endpoint;
      if (answer === null) {
        request.socket.destroy();
        return;
      }
      const { status = 200, body, headers = { "content-type": "application/json" } } = answer;
      response.writeHead(status, headers);
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const endpoint: TokenEndpoint = {
    authUrl: `${url}/authorize`,
    tokenUrl: `${url}${path}`,
    requests: [],
    answer: null,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
  return endpoint;
}
