import { readJsonText } from "../../lib/json-answer.ts";
import { ApiError } from "../../lib/api-error.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { listAssistants } from "../assistants/assistant-service.ts";
import { type JsonSchema, knownSchemas } from "../assistants/known-schemas.ts";
import { toInputSchema } from "./input-schema.ts";
import { toolName } from "./tool-name.ts";

/** Each asks the project's code for its schemas. */
const TOOLS_PER_PAGE = 50;

/** An invocation has six connections. */
const GRAPHS_AT_ONCE = 6;

/** Assistants may have large configurations. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

export type Tool = {
  name: string;
  title: string;
  description?: string;
  inputSchema: JsonSchema & { type: "object" };
};

type ListedAssistant = Pick<
  Assistant,
  "assistant_id" | "graph_id" | "name" | "description" | "config"
>;

/** A page of the tools, the oldest assistant's first. Null for a cursor that none of these answers had. */
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
  const tools = await mapLimited(assistants, GRAPHS_AT_ONCE, (each) => toTool(call, each));
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
