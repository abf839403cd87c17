import { type JsonObject, listOf, objectOf } from "./attribute-access.ts";
import { indexedItems } from "./nested-attributes.ts";
import type { Attributes } from "./span.ts";

/** Messages in attributes such as `<prefix>.0.role` and `<prefix>.0.message.content`. */
export function indexedMessages(attributes: Attributes, prefix: string): JsonObject[] | undefined {
  const messages = indexedItems(attributes, prefix)
    .map((item) => objectOf(item))
    .filter((item) => item !== undefined);
  return messages.length === 0 ? undefined : messages.map(withContent);
}

/**
 * Messages of `gen_ai.input.messages` or `gen_ai.output.messages`, a list of `{role, parts}`, in the
 * form that chat APIs give them: text as `content`, tool calls as `tool_calls`, and each response of
 * a tool as a message of its own.
 */
export function messagesOfParts(value: unknown): JsonObject[] | undefined {
  const messages = (listOf(value) ?? []).flatMap((item) => {
    const message = objectOf(item);
    if (message === undefined) return [];
    const { parts, ...rest } = message;
    return Array.isArray(parts) ? fromParts(rest, parts) : [message];
  });
  return messages.length === 0 ? undefined : messages;
}

/** The messages of `gen_ai.system_instructions`, a list of parts. */
export function systemMessages(value: unknown): JsonObject[] {
  const parts = listOf(value);
  return parts === undefined || parts.length === 0 ? [] : fromParts({ role: "system" }, parts);
}

/** OpenInference has a content of several items apart from one that is a text. */
function withContent(message: JsonObject): JsonObject {
  const { contents, ...rest } = message;
  if (!Array.isArray(contents) || rest["content"] !== undefined) return message;
  return { ...rest, content: contents };
}

function fromParts(message: JsonObject, parts: readonly unknown[]): JsonObject[] {
  const blocks: unknown[] = [];
  const toolCalls: JsonObject[] = [];
  const responses: JsonObject[] = [];
  for (const each of parts) {
    const part = objectOf(each) ?? { type: "text", content: each };
    switch (part["type"]) {
      case "text":
        blocks.push({ type: "text", text: part["content"] });
        break;
      case "tool_call":
        toolCalls.push(toolCallOf(part));
        break;
      case "tool_call_response":
        responses.push({
          ...message,
          tool_call_id: part["id"],
          content: part["response"] ?? part["result"],
        });
        break;
      default:
        blocks.push(part);
    }
  }
  if (blocks.length === 0 && toolCalls.length === 0 && responses.length > 0) return responses;
  return [
    {
      ...message,
      content: contentOf(blocks),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    ...responses,
  ];
}

function contentOf(blocks: readonly unknown[]): unknown {
  const [first] = blocks;
  if (first === undefined) return "";
  const text = objectOf(first)?.["text"];
  return blocks.length === 1 && typeof text === "string" ? text : blocks;
}

function toolCallOf({ id, name, arguments: given }: JsonObject): JsonObject {
  const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
  return { id, type: "function", function: { name, arguments: text } };
}
