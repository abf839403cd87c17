import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { TestServer } from "./server.ts";

/** A tool's result, as both clients return it. */
type ToolResult = {
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

/** The operations that both generations of the official client support. */
export type McpClient = {
  protocolVersion: string | undefined;
  listTools: (cursor?: string) => Promise<{ tools: McpTool[]; nextCursor?: string | undefined }>;
  callTool: (name: string, args: Record<string, unknown>) => Promise<ToolResult>;
  ping: () => Promise<unknown>;
  close: () => Promise<void>;
};

type McpTool = { name: string; title?: string | undefined; description?: string | undefined } & {
  inputSchema: Record<string, unknown>;
};

const INFO = { name: "threadworks-test", version: "1" };

/** Connects the client of the older, single package, which knows the protocol's revisions up to 2025-11-25. */
export async function connectMcp(
  server: TestServer,
  headers: Record<string, string> = {},
): Promise<McpClient> {
  const client = new Client(INFO);
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    fetch: throughServer(server, headers),
  });
  await client.connect(transport);
  return {
    protocolVersion: transport.protocolVersion,
    listTools: (cursor) => client.listTools(cursor === undefined ? {} : { cursor }),
    callTool: async (name, args) =>
      (await client.callTool({ name, arguments: args })) as ToolResult,
    ping: () => client.ping(),
    close: () => client.close(),
  };
}

/** Connects its successor, which tries the newest revision first; that has no handshake. */
export async function connectMcpV2(
  server: TestServer,
  headers: Record<string, string> = {},
): Promise<McpClient> {
  const client = new ClientV2(INFO, { versionNegotiation: { mode: "auto" } });
  const transport = new TransportV2(new URL(`${server.url}/mcp`), {
    fetch: throughServer(server, headers),
  });
  await client.connect(transport);
  return {
    protocolVersion: client.getNegotiatedProtocolVersion(),
    listTools: (cursor) => client.listTools(cursor === undefined ? {} : { cursor }),
    callTool: async (name, args) =>
      (await client.callTool({ name, arguments: args })) as ToolResult,
    ping: () => client.ping(),
    close: () => client.close(),
  };
}

function throughServer(server: TestServer, own: Record<string, string>) {
  return (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return server.fetch(new URL(url).pathname, { ...init, headers });
  };
}
