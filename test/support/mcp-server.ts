import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type McpServer = {
  /** URL of the server, not of its metadata. */
  url: string;
  origin: string;
  /** JSON documents by path. The server itself, which has none, answers that a token is required. */
  documents: Record<string, unknown>;
  /** The metadata URL in the challenge; null if it has none. */
  metadataUrl: string | null;
  asked: string[];
  close: () => Promise<void>;
};

/** Starts the part of an MCP server that a client without a token can see. */
export async function startMcpServer(): Promise<McpServer> {
  const http = createServer((request, response) => {
    const path = request.url ?? "";
    server.asked.push(`${request.method} ${path}`);
    const document = server.documents[path];
    if (document !== undefined) {
      response.writeHead(request.method === "POST" ? 201 : 200, {
        "content-type": "application/json",
      });
      response.end(JSON.stringify(document));
      return;
    }
    if (path !== "/notes/mcp") {
      response.writeHead(404).end();
      return;
    }
    const named = server.metadataUrl === null ? "" : ` resource_metadata="${server.metadataUrl}"`;
    response.writeHead(401, { "www-authenticate": `Bearer realm="x",${named}` }).end();
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server: McpServer = {
    url: `${origin}/notes/mcp`,
    origin,
    documents: {},
    metadataUrl: null,
    asked: [],
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
  return server;
}
