import type { Server } from "@modelcontextprotocol/server";
import { ApiError } from "../../lib/api-error.ts";
import { VERSION } from "../../lib/version.ts";
import type { AgentCall } from "../agent-call.ts";
import { callTool } from "./call-tool.ts";
import { assistantOfTool, listTools } from "./tools.ts";

/** Evaluated when it is first asked for: most isolates never are, and a Worker's start is paid by every request. */
function loadSdk() {
  return import("@modelcontextprotocol/server");
}

/**
 * Answers one message, in whichever revision of the protocol it is: those from 2026 on, which have no handshake, and
 * those before. A server lives for one message. What a service refuses is thrown, so that it is answered like
 * any other request's refusal; `begun` is called when a run has begun.
 */
export async function serveMessage(
  call: AgentCall,
  request: Request,
  message: unknown,
  begun: () => void,
): Promise<Response> {
  const sdk = await loadSdk();
  let refused: { error: unknown } | null = null;
  const refusing = <A extends unknown[], T>(work: (...args: A) => Promise<T>) => {
    return async (...args: A): Promise<T> => {
      try {
        return await work(...args);
      } catch (error) {
        if (!(error instanceof sdk.ProtocolError)) refused = { error };
        throw error;
      }
    };
  };
  const newServer = (): Server => {
    const info = { name: "threadworks", version: VERSION };
    const server = new sdk.Server(info, { capabilities: { tools: {} } });
    const invalid = (text: string): Error =>
      new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, text);
    server.setRequestHandler(
      "tools/list",
      refusing(async ({ params }) => {
        const page = await listTools(call, params?.cursor);
        if (page === null) throw invalid("The cursor is none of this server's");
        return page;
      }),
    );
    server.setRequestHandler(
      "tools/call",
      refusing(async ({ params }) => {
        const { name, arguments: args = {} } = params;
        const assistantId = assistantOfTool(name);
        if (assistantId === null) throw invalid(unknownTool(name));
        try {
          return await callTool(call, assistantId, args, begun);
        } catch (error) {
          const isMissing = error instanceof ApiError && error.code === "not_found";
          throw isMissing ? invalid(unknownTool(name)) : error;
        }
      }),
    );
    return server;
  };
  const parsed = { parsedBody: message };
  let response: Response;
  if (await sdk.isLegacyRequest(request, message)) {
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: true,
    });
    await newServer().connect(transport);
    response = await transport.handleRequest(request, parsed);
  } else {
    // Nothing changes while a connection is open: there is nothing to listen to.
    const options = { legacy: "reject", responseMode: "json", maxSubscriptions: 0 } as const;
    response = await sdk.createMcpHandler(newServer, options).fetch(request, parsed);
  }
  const failure = refused as { error: unknown } | null;
  if (failure !== null) throw failure.error;
  return response;
}

function unknownTool(name: string): string {
  return `Unknown tool: ${name.slice(0, 100)}`;
}
