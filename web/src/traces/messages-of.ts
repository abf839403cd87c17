/**
 * A message. Messages and their calls are identified by position, because traces contain no ids for them and
 * their order does not change.
 */
export type ShownMessage = {
  id: number;
  role: string;
  text: string;
  toolCalls: { id: number; name: string; args: unknown }[];
};

type Loose = Record<string, unknown>;

const ROLES: Record<string, string> = { human: "user", ai: "assistant" };

/**
 * Returns the messages in a run's input or output, in the forms that tracers write: as plain objects, in
 * LangChain's serialisation, as a list of lists, and as a model's generations. Returns null when there are
 * none.
 */
export function messagesOf(payload: unknown): ShownMessage[] | null {
  const found = listOf(payload)?.map(messageOf) ?? [];
  return found.length > 0 && found.every((message) => message !== null) ? found : null;
}

function listOf(payload: unknown): unknown[] | null {
  if (!isObject(payload)) return null;
  const { messages, generations, output } = payload;
  if (Array.isArray(messages)) return messages.flat(1);
  if (Array.isArray(generations)) {
    return generations.flat(1).map((one: unknown) => (isObject(one) ? one["message"] : null));
  }
  if (isObject(output)) return messageOf(output, 0) === null ? listOf(output) : [output];
  return null;
}

function messageOf(value: unknown, id: number): ShownMessage | null {
  if (!isObject(value)) return null;
  const { id: path, kwargs } = value;
  if (isObject(kwargs) && Array.isArray(path)) {
    return messageOf({ type: String(path.at(-1)).replace(/Message(Chunk)?$/, ""), ...kwargs }, id);
  }
  const role = value["role"] ?? value["type"];
  if (typeof role !== "string" || !("content" in value)) return null;
  const name = role.toLowerCase();
  const text = textOf(value["content"]);
  return { id, role: ROLES[name] ?? name, text, toolCalls: callsOf(value) };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content == null ? "" : JSON.stringify(content);
  return content
    .map((part: unknown) => {
      if (typeof part === "string") return part;
      return isObject(part) && typeof part["text"] === "string"
        ? part["text"]
        : JSON.stringify(part);
    })
    .join("\n");
}

function callsOf({ tool_calls }: Loose): ShownMessage["toolCalls"] {
  if (!Array.isArray(tool_calls)) return [];
  return tool_calls.filter(isObject).map((call, id) => {
    const named = isObject(call["function"]) ? call["function"] : call;
    return { id, name: String(named["name"]), args: named["args"] ?? named["arguments"] };
  });
}

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
