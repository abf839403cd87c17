import type { GraphRef, GraphSchemas } from "../../graph-runtime/protocol.ts";
import { isObject, objectOrEmpty } from "../../lib/json.ts";
import type { AgentCall } from "../agent-call.ts";
import { requestedGraphs } from "../graph-host.ts";
import type { Assistant } from "./assistant-json.ts";

export type JsonSchema = Record<string, unknown>;

/**
 * Returns the schemas of an assistant's input and context. A schema that does not describe an object, or that
 * cannot be read, is null: the project's code may fail at that, and must not prevent other assistants from being
 * listed.
 */
export async function knownSchemas(
  call: AgentCall,
  assistant: Pick<Assistant, "graph_id" | "config">,
): Promise<{ input: JsonSchema | null; context: JsonSchema | null }> {
  const { input, config } = await schemasOf(call, assistant);
  return { input: objectSchema(input), context: objectSchema(config) };
}

async function schemasOf(
  call: AgentCall,
  assistant: Pick<Assistant, "graph_id" | "config">,
): Promise<Partial<GraphSchemas>> {
  try {
    const told = await requestedGraphs(call).schemas(toGraphRef(assistant));
    return told.ok ? told.value : {};
  } catch {
    return {};
  }
}

function objectSchema(schema: unknown): JsonSchema | null {
  if (!isObject(schema)) return null;
  const { type = "object" } = schema;
  return type === "object" ? { ...schema, type } : null;
}

/** Returns the properties that an object schema names. */
export function propertiesOf(schema: JsonSchema | null): Record<string, unknown> {
  return objectOrEmpty(schema?.["properties"]);
}

/** Returns the reference to the assistant's graph that a graph host takes. */
export function toGraphRef({ graph_id, config }: Pick<Assistant, "graph_id" | "config">): GraphRef {
  const { configurable, metadata } = config;
  return {
    graph_id,
    config: {
      ...config,
      configurable: objectOrEmpty(configurable),
      metadata: objectOrEmpty(metadata),
    },
  };
}
