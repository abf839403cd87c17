import { readJsonText } from "../../lib/json-answer.ts";
import { ApiError } from "../../lib/api-error.ts";
import { CONNECTIONS, mapLimited } from "../../lib/map-limited.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { listAssistants } from "../assistants/assistant-service.ts";
import { type JsonSchema, knownSchemas, propertiesOf } from "../assistants/known-schemas.ts";
import { defaultAssistantId } from "../assistants/assistant-id.ts";
import { isObject } from "../../lib/json.ts";

/** Maximum tools per page: the schemas of each are read from the project's code. */
const TOOLS_PER_PAGE = 50;

/** Maximum bytes of the listed assistants, which may have large configurations. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

type Tool = {
  name: string;
  title: string;
  description?: string;
  inputSchema: JsonSchema & { type: "object" };
};

type ListedAssistant = Pick<
  Assistant,
  "assistant_id" | "graph_id" | "name" | "description" | "config"
>;

/**
 * Returns a page of the tools, the oldest assistant's first. Null if the cursor is not one that was returned
 * before.
 */
export async function listTools(
  call: AgentCall,
  cursor: string | undefined,
): Promise<{ tools: Tool[]; nextCursor?: string } | null> {
  const offset = offsetOf(cursor);
  if (offset === null) return null;
  const listed = await listAssistants(call, {
    limit: TOOLS_PER_PAGE,
    offset,
    sort_by: "created_at",
    sort_order: "asc",
    select: ["assistant_id", "graph_id", "name", "description", "config"],
  });
  const json = await readJsonText(listed.json, MAX_PAGE_BYTES);
  if (json === null) {
    throw new ApiError("payload_too_large", "The assistants are too large to be listed as tools");
  }
  const assistants: ListedAssistant[] = JSON.parse(json);
  const tools = await mapLimited(assistants, CONNECTIONS, (each) => toTool(call, each));
  const next = offset + listed.returned;
  return next < listed.total ? { tools, nextCursor: String(next) } : { tools };
}

function offsetOf(cursor: string | undefined): number | null {
  if (cursor === undefined) return 0;
  return /^\d{1,9}$/.test(cursor) ? Number(cursor) : null;
}

async function toTool(call: AgentCall, assistant: ListedAssistant): Promise<Tool> {
  const { name, description } = assistant;
  return {
    name: toolName(assistant),
    title: name,
    ...(description === null ? {} : { description }),
    inputSchema: toInputSchema(await knownSchemas(call, assistant)),
  };
}

/** Model providers accept neither longer tool names nor other characters. */
const MAX_NAME_CHARS = 64;
const TOOL_NAME = new RegExp(`^[A-Za-z0-9_-]{1,${MAX_NAME_CHARS}}$`);
const OTHER_CHARS = /[^A-Za-z0-9_-]+/g;

const ID_SUFFIX = /(?:^|_)([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
const ID_SUFFIX_CHARS = 33;

/**
 * Returns the name of an assistant's tool. A graph's default assistant has the graph's name. Other assistants may
 * share a name, so theirs ends with their id, which also lets a call find its assistant without listing all.
 */
function toolName({
  assistant_id,
  graph_id,
  name,
}: Pick<Assistant, "assistant_id" | "graph_id" | "name">): string {
  const isDefault = assistant_id === defaultAssistantId(graph_id);
  if (isDefault && TOOL_NAME.test(graph_id) && !ID_SUFFIX.test(graph_id)) return graph_id;
  const stem = name.replaceAll(OTHER_CHARS, "_").slice(0, MAX_NAME_CHARS - ID_SUFFIX_CHARS);
  return `${stem}_${assistant_id.replaceAll("-", "")}`;
}

/** Returns the assistant id or graph name that a tool's name stands for; null if it cannot be the name of a tool. */
export function assistantOfTool(name: string): string | null {
  if (!TOOL_NAME.test(name)) return null;
  const id = ID_SUFFIX.exec(name);
  return id === null ? name : id.slice(1).join("-");
}

/** The tool argument that becomes the run's context, and is not part of its input. */
export const CONTEXT_ARGUMENT = "context";

/** Maximum characters of a schema: longer ones are of no use to a model, and a page of them is held in memory. */
const MAX_SCHEMA_CHARS = 64 * 1024;

const ANYTHING = { type: "object" } as const;

/** Schema of messages that a model can write, and that every graph accepts as LangChain messages. */
const MESSAGES: JsonSchema = {
  type: "array",
  description: "The messages of the conversation, the newest last",
  items: {
    type: "object",
    properties: {
      role: { type: "string", enum: ["user", "assistant", "system"] },
      content: { type: "string" },
    },
    required: ["role", "content"],
  },
};

/** Returns the schema of a tool's arguments: the graph's input, and the context if there is one. */
function toInputSchema({
  input,
  context,
}: {
  input: JsonSchema | null;
  context: JsonSchema | null;
}): JsonSchema & { type: "object" } {
  if (input === null && context === null) return ANYTHING;
  const properties = { ...propertiesOf(input) };
  for (const [name, schema] of Object.entries(properties)) {
    if (isMessages(schema)) properties[name] = MESSAGES;
  }
  if (context !== null && !(CONTEXT_ARGUMENT in properties)) properties[CONTEXT_ARGUMENT] = context;
  const schema = withoutUnused({ ...input, type: "object" as const, properties });
  return JSON.stringify(schema).length > MAX_SCHEMA_CHARS ? ANYTHING : schema;
}

/** Whether a schema is that of LangChain messages. Theirs describe LangChain's classes, or nothing at all. */
function isMessages(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (schema["langgraph_type"] === "messages") return true;
  const { items } = schema;
  return isObject(items) && String(items["$ref"]).startsWith("#/definitions/BaseMessage");
}

/** Drops the definitions if nothing refers to them: those of messages are long, and usually no other part has any. */
function withoutUnused<T extends JsonSchema>(schema: T): T {
  const { definitions: _definitions, ...rest } = schema;
  return JSON.stringify(rest).includes('"#/definitions/') ? schema : (rest as T);
}
