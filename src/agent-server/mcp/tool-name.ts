import { defaultAssistantId } from "../assistants/assistant-id.ts";
import type { Assistant } from "../assistants/assistant-json.ts";

/** Model providers take no longer names of tools, and no other characters. */
const MAX_NAME_CHARS = 64;
const TOOL_NAME = new RegExp(`^[A-Za-z0-9_-]{1,${MAX_NAME_CHARS}}$`);
const OTHER_CHARS = /[^A-Za-z0-9_-]+/g;

const ID_SUFFIX = /(?:^|_)([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
const ID_SUFFIX_CHARS = 33;

/**
 * A graph's default assistant has the graph's name. Other assistants may share a name, so that theirs ends with their id:
 * a call then finds its assistant without a list of them.
 */
export function toolName({
  assistant_id,
  graph_id,
  name,
}: Pick<Assistant, "assistant_id" | "graph_id" | "name">): string {
  const isDefault = assistant_id === defaultAssistantId(graph_id);
  if (isDefault && TOOL_NAME.test(graph_id) && !ID_SUFFIX.test(graph_id)) return graph_id;
  const stem = name.replaceAll(OTHER_CHARS, "_").slice(0, MAX_NAME_CHARS - ID_SUFFIX_CHARS);
  return `${stem}_${assistant_id.replaceAll("-", "")}`;
}

/** The id of the assistant that a tool's name stands for, or its graph's name; null for what is no tool's name. */
export function assistantOfTool(name: string): string | null {
  if (!TOOL_NAME.test(name)) return null;
  const id = ID_SUFFIX.exec(name);
  return id === null ? name : id.slice(1).join("-");
}
