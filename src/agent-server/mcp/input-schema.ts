import { isObject } from "../../lib/json.ts";
import { type JsonSchema, propertiesOf } from "../assistants/known-schemas.ts";

/** The argument of a tool that is the run's context, and no part of its input. */
export const CONTEXT_ARGUMENT = "context";

/** Longer schemas are of no use to a model, and a page of them is held in memory. */
const MAX_SCHEMA_CHARS = 64 * 1024;

const ANYTHING = { type: "object" } as const;

/** What a model can write, and every graph reads as LangChain's messages. */
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

/** The arguments of a tool: the graph's input, beside which there may be a context. */
export function toInputSchema({
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

/** LangChain's schemas of messages describe its classes, or nothing at all. */
function isMessages(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (schema["langgraph_type"] === "messages") return true;
  const { items } = schema;
  return isObject(items) && String(items["$ref"]).startsWith("#/definitions/BaseMessage");
}

/** The definitions of messages are long, and mostly nothing else has any. */
function withoutUnused<T extends JsonSchema>(schema: T): T {
  const { definitions: _definitions, ...rest } = schema;
  return JSON.stringify(rest).includes('"#/definitions/') ? schema : (rest as T);
}
