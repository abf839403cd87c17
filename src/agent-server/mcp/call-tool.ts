import { isObject } from "../../lib/json.ts";
import { readJsonText } from "../../lib/json-answer.ts";
import type { AgentCall } from "../agent-call.ts";
import { knownSchemas, propertiesOf } from "../assistants/known-schemas.ts";
import { resolveAssistant } from "../assistants/resolve-assistant.ts";
import { prepareRun, startRun } from "../threads/new-run.ts";
import { CONTEXT_ARGUMENT } from "./tools.ts";

/** A result is text and, parsed, structured content: both are in memory. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

export type ToolResult = {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

/**
 * A run without a thread, whose final values are the result. It is cancelled when the client leaves; `begun` is
 * called when nothing can be refused any more.
 */
export async function callTool(
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

/** A graph whose input has a member of that name gets it as input. */
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
