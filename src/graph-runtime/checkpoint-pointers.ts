import { isObject } from "../lib/json.ts";
import { CHECKPOINT_POINTERS } from "./protocol.ts";
import type { GraphChunk } from "./stream-events.ts";

/**
 * LangGraph emits the values after a step first, and then the whole checkpoint that they belong to. This
 * generator instead yields a pointer to the checkpoint first, which clients associate with the values that
 * follow it. Values without a checkpoint after them are yielded without a pointer.
 */
export async function* withPointers(chunks: AsyncIterable<GraphChunk>): AsyncGenerator<GraphChunk> {
  const held = new Map<string, GraphChunk>();
  try {
    for await (const chunk of chunks) {
      const graph = chunk.namespace.join("|");
      const values = held.get(graph);
      held.delete(graph);
      if (chunk.mode === "checkpoints") {
        const pointer = pointerOf(chunk.data);
        if (pointer !== null) yield { ...chunk, mode: CHECKPOINT_POINTERS, data: pointer };
      }
      if (values !== undefined) yield values;
      if (chunk.mode === "values" && !isInterrupt(chunk.data)) held.set(graph, chunk);
      else if (chunk.mode !== "checkpoints") yield chunk;
    }
  } catch (error) {
    yield* held.values();
    throw error;
  }
  yield* held.values();
}

function pointerOf(payload: unknown): Record<string, unknown> | null {
  if (!isObject(payload) || !isObject(payload["metadata"])) return null;
  const id = idOf(payload["config"]);
  if (id === undefined) return null;
  const parent_id = idOf(payload["parentConfig"]);
  const { step, source } = payload["metadata"];
  return { id, ...(parent_id === undefined ? {} : { parent_id }), step, source };
}

function idOf(config: unknown): unknown {
  if (!isObject(config) || !isObject(config["configurable"])) return undefined;
  return config["configurable"]["checkpoint_id"];
}

function isInterrupt(values: unknown): boolean {
  return isObject(values) && "__interrupt__" in values;
}
