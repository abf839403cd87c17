import { isObject, type JsonObject, jsonOrUndefined } from "../../lib/json.ts";

const ROLES: Record<string, string> = { assistant: "ai", user: "human" };

const MESSAGE_TYPES: ReadonlySet<unknown> = new Set([
  "ai",
  "human",
  "system",
  "tool",
  "function",
  "remove",
  "developer",
]);

/** Keys of media blocks in LangChain's classes, and the corresponding keys in the protocol. */
const BLOCK_KEYS: Record<string, string> = {
  mimeType: "mime_type",
  fileId: "file_id",
  sourceType: "source_type",
};

/** Converts the messages of a state, or of a part of one, into the protocol's form. */
export function normalState(state: unknown): unknown {
  if (Array.isArray(state)) return state.map(normalValue);
  if (!isObject(state)) return state;
  if (isMessage(state)) return normalMessage(state);
  return mapped(state, (value) =>
    Array.isArray(value) ? value.map(normalValue) : normalValue(value),
  );
}

function normalValue(value: unknown): unknown {
  return isObject(value) && isMessage(value) ? normalMessage(value) : value;
}

function isMessage(value: JsonObject): boolean {
  return "content" in value && MESSAGE_TYPES.has(typeOf(value));
}

function typeOf({ type, role }: JsonObject): unknown {
  const name = typeof type === "string" ? type : role;
  return typeof name === "string" ? (ROLES[name] ?? name) : name;
}

/**
 * Converts a message: its type becomes LangChain's, and what providers add is dropped, except for tool calls
 * that are found only there.
 */
function normalMessage(message: JsonObject): JsonObject {
  const { additional_kwargs, response_metadata, content, role: _role, ...rest } = message;
  const lifted = liftedCalls(message, additional_kwargs);
  const hasMetadata = isObject(response_metadata) && Object.keys(response_metadata).length > 0;
  return {
    ...rest,
    type: typeOf(message),
    content: Array.isArray(content) ? content.map(normalBlock) : content,
    ...(hasMetadata ? { response_metadata } : {}),
    ...(lifted === null ? {} : { tool_calls: lifted }),
  };
}

export function normalBlock(block: unknown): unknown {
  if (!isObject(block)) return block;
  return Object.fromEntries(
    Object.entries(block).map(([key, value]) => [BLOCK_KEYS[key] ?? key, value]),
  );
}

function liftedCalls({ tool_calls }: JsonObject, kwargs: unknown): JsonObject[] | null {
  if (Array.isArray(tool_calls) && tool_calls.length > 0) return null;
  if (!isObject(kwargs) || !Array.isArray(kwargs["tool_calls"])) return null;
  return kwargs["tool_calls"].filter(isObject).map(({ id, function: called }) => {
    const { name, arguments: text } = isObject(called) ? called : {};
    return { id, name, args: parsedArgs(text) ?? {}, type: "tool_call" };
  });
}

/**
 * Parses the arguments of a tool call, which models write as the text of a JSON object. Returns null for
 * anything else.
 */
export function parsedArgs(text: unknown): JsonObject | null {
  if (text === "") return {};
  if (typeof text !== "string") return null;
  const value = jsonOrUndefined(text);
  return isObject(value) ? value : null;
}

function mapped(record: JsonObject, map: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
