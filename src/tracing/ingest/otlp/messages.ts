import type { JsonObject } from "../../../lib/json.ts";
import {
  type Attributes,
  givenAttribute,
  listOf,
  objectOf,
  payloadOf,
  type SpanEvent,
} from "./span.ts";
import { indexedItems, nestAttributes } from "./nested-attributes.ts";

/** Returns the messages in attributes such as `<prefix>.0.role` and `<prefix>.0.message.content`. */
export function indexedMessages(attributes: Attributes, prefix: string): JsonObject[] | undefined {
  const messages = indexedItems(attributes, prefix)
    .map((item) => objectOf(item))
    .filter((item) => item !== undefined);
  return messages.length === 0 ? undefined : messages.map(withContent);
}

/**
 * Converts the messages of `gen_ai.input.messages` or `gen_ai.output.messages`, a list of `{role, parts}`, to
 * the form of the chat APIs: text as `content`, tool calls as `tool_calls`, and each response of a tool as a
 * message of its own.
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

/** Returns the messages of `gen_ai.system_instructions`, a list of parts. */
export function systemMessages(value: unknown): JsonObject[] {
  const parts = listOf(value);
  return parts === undefined || parts.length === 0 ? [] : fromParts({ role: "system" }, parts);
}

/** OpenInference uses `contents` for a content of several items, apart from a content that is a text. */
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

const ROLES = new Map([
  ["gen_ai.system.message", "system"],
  ["gen_ai.user.message", "user"],
  ["gen_ai.assistant.message", "assistant"],
  ["gen_ai.tool.message", "tool"],
]);

type EventPayloads = {
  inputs: JsonObject | undefined;
  outputs: JsonObject | undefined;
  /** The events that the payloads represent. */
  used: ReadonlySet<SpanEvent>;
};

/**
 * Returns the inputs and outputs in the events with which GenAI conventions record a conversation. The
 * messages of assistants and tools are the output, unless there is a choice or a completion: then they are
 * history that was given to the model.
 */
export function payloadsOfEvents(events: readonly SpanEvent[]): EventPayloads {
  const used = new Set<SpanEvent>();
  const messages: { isInput: boolean; message: JsonObject }[] = [];
  const choices: JsonObject[] = [];
  let prompt: JsonObject | undefined;
  let completion: JsonObject | undefined;
  for (const event of events) {
    const read = readEvent(event);
    if (read === undefined) continue;
    used.add(event);
    if (read.type === "message") messages.push(read);
    else if (read.type === "choice") choices.push(read.choice);
    else if (read.type === "prompt") prompt = read.payload;
    else completion = read.payload;
  }
  const isAnswered = completion !== undefined || choices.length > 0;
  const inputMessages = messages.filter(({ isInput }) => isInput || isAnswered);
  const outputMessages = messages.filter(({ isInput }) => !isInput && !isAnswered);
  return {
    inputs: prompt ?? messagesPayload(inputMessages),
    outputs: completion ?? choicesPayload(choices) ?? messagesPayload(outputMessages),
    used,
  };
}

type ReadEvent =
  | { type: "prompt" | "completion"; payload: JsonObject }
  | { type: "message"; isInput: boolean; message: JsonObject }
  | { type: "choice"; choice: JsonObject };

function readEvent({ name, attributes }: SpanEvent): ReadEvent | undefined {
  if (name === "gen_ai.content.prompt") {
    const value = givenAttribute(attributes, "gen_ai.prompt");
    return value === undefined ? undefined : { type: "prompt", payload: payloadOf(value, "input") };
  }
  if (name === "gen_ai.content.completion") {
    const value = givenAttribute(attributes, "gen_ai.completion");
    if (value === undefined) return undefined;
    return { type: "completion", payload: payloadOf(value, "output") };
  }
  const role = ROLES.get(name);
  if (role === undefined && name !== "gen_ai.choice") return undefined;
  // Semantic Kernel puts the whole message as JSON into one attribute.
  const whole = objectOf(attributes.get("gen_ai.event.content"));
  const body = whole ?? ownAttributes(attributes);
  if (body === undefined) return undefined;
  if (role === undefined) return { type: "choice", choice: body };
  const isInput = role === "system" || role === "user";
  const message = role === "tool" && whole === undefined ? withToolCallId(body) : body;
  return { type: "message", isInput, message: { role, ...message } };
}

/** Returns the event's own attributes. Others, such as `gen_ai.system`, repeat those of the span. */
function ownAttributes(attributes: SpanEvent["attributes"]): JsonObject | undefined {
  const own = [...attributes].filter(([key]) => !/^(?:gen_ai|event)\./.test(key));
  const body = objectOf(nestAttributes(own));
  return body === undefined || Object.keys(body).length === 0 ? undefined : body;
}

function withToolCallId({ id, ...message }: JsonObject): JsonObject {
  return id === undefined ? message : { ...message, tool_call_id: id };
}

function messagesPayload(messages: readonly { message: JsonObject }[]): JsonObject | undefined {
  return messages.length === 0 ? undefined : { messages: messages.map(({ message }) => message) };
}

function choicesPayload(choices: readonly JsonObject[]): JsonObject | undefined {
  return choices.length > 1 ? { choices } : choices[0];
}
