import type { Server } from "@modelcontextprotocol/server";
import { ApiError } from "../../lib/api-error.ts";
import { VERSION } from "../../lib/version.ts";
import type { AgentCall } from "../agent-call.ts";
import { assistantOfTool, CONTEXT_ARGUMENT, listTools } from "./tools.ts";
import { isObject } from "../../lib/json.ts";
import { readJsonText } from "../../lib/json-answer.ts";
import { knownSchemas, propertiesOf } from "../assistants/known-schemas.ts";
import { resolveAssistant } from "../assistants/resolve-assistant.ts";
import { prepareRun, startRun } from "../threads/new-run.ts";

/**
 * Loads the SDK when it is first needed: most isolates never need it, and a Worker's start time delays every
 * request.
 */
function loadSdk() {
  return import("@modelcontextprotocol/server");
}

/**
 * Answers one message in either kind of protocol revision: those from 2026 on, which have no handshake, and the
 * earlier ones. A new server is created for each message. A service's refusal is thrown, so that it is answered
 * like any other refused request; `begun` is called when a run has started.
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
        if (page === null) throw invalid("The cursor was not returned by this server");
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
    // Nothing changes while a connection is open, so there is nothing to subscribe to.
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

/** Maximum bytes of a result, which is in memory twice: as text and, parsed, as structured content. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

type ToolResult = {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

/**
 * Runs an assistant without a thread and returns the run's final values. The run is cancelled when the client
 * disconnects; `begun` is called when the request can no longer be refused.
 */
async function callTool(
  call: AgentCall,
  assistantId: string,
  args: Record<string, unknown>,
  begun: () => void,
): Promise<ToolResult> {
  const body = { assistant_id: assistantId, ...(await splitArguments(call, assistantId, args)) };
  const { stream } = await startRun(
    await prepareRun(call, body, {
      follow: "result",
      threadId: null,
      createThread: true,
      temporary: true,
    }),
  );
  begun();
  if (stream === null) throw new Error("A run whose result is followed has a stream");
  const text = await readJsonText(stream, MAX_RESULT_BYTES);
  if (text === null) return toolError(`The result has more than ${MAX_RESULT_BYTES} bytes`);
  return toResult(text.trimStart());
}

/** Splits a tool's arguments into input and context. An input that has a property with the context's name gets it. */
async function splitArguments(
  call: AgentCall,
  assistantId: string,
  args: Record<string, unknown>,
): Promise<{ input: unknown; context?: unknown }> {
  if (!(CONTEXT_ARGUMENT in args)) return { input: args };
  const schemas = await knownSchemas(call, await resolveAssistant(call, assistantId));
  if (schemas.context === null || CONTEXT_ARGUMENT in propertiesOf(schemas.input)) {
    return { input: args };
  }
  const { [CONTEXT_ARGUMENT]: context, ...input } = args;
  return { input, context };
}

function toResult(text: string): ToolResult {
  const values: unknown = JSON.parse(text);
  const content = [{ type: "text" as const, text }];
  if (!isObject(values)) return { content };
  const { __error__: error, __interrupt__: interrupt } = values;
  if (isObject(error)) return toolError(`${String(error["error"])}: ${String(error["message"])}`);
  if (interrupt !== undefined) {
    return toolError(`The run waits for an answer, which a tool call cannot give: ${text}`);
  }
  return { content, structuredContent: values };
}

function toolError(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
