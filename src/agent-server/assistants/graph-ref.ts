import type { GraphRef } from "../../graph-runtime/protocol.ts";
import { isObject } from "../../lib/json.ts";
import type { Assistant } from "./assistant-json.ts";

/** The assistant's graph, as a graph host is asked for it. */
export function toGraphRef({ graph_id, config }: Pick<Assistant, "graph_id" | "config">): GraphRef {
  const { configurable, metadata } = config;
  return {
    graph_id,
    config: { ...config, configurable: toRecord(configurable), metadata: toRecord(metadata) },
  };
}

function toRecord(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
