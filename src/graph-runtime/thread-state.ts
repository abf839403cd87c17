import type { StateSnapshot } from "@langchain/langgraph";
import { MAX_VALUES_BYTES, messageBytes } from "./message-size.ts";
import type { ThreadSnapshot, WireCheckpoint, WireInterrupt } from "./protocol.ts";
import { toWire, toWireJson } from "./wire-json.ts";

/** Returns the checkpoint that a LangGraph config names, or null when it names none. */
export function checkpointRefOf(config: unknown): WireCheckpoint | null {
  if (typeof config !== "object" || config === null || !("configurable" in config)) return null;
  const { configurable } = config;
  if (typeof configurable !== "object" || configurable === null) return null;
  const read = (key: string): unknown => Reflect.get(configurable, key);
  const threadId = read("thread_id");
  if (typeof threadId !== "string") return null;
  const id = read("checkpoint_id");
  const ns = read("checkpoint_ns");
  const map = read("checkpoint_map");
  return {
    thread_id: threadId,
    checkpoint_ns: typeof ns === "string" ? ns : "",
    checkpoint_id: typeof id === "string" ? id : null,
    checkpoint_map:
      typeof map === "object" && map !== null ? (toWire(map) as Record<string, string>) : null,
  };
}

/** Returns where the checkpoints of a task's subgraph are. It has an id only when the config names one checkpoint. */
function taskCheckpointOf(config: unknown): Partial<WireCheckpoint> | null {
  const ref = checkpointRefOf(config);
  if (ref === null) return null;
  const { checkpoint_id, checkpoint_map, ...place } = ref;
  return {
    ...place,
    ...(checkpoint_id === null ? {} : { checkpoint_id }),
    ...(checkpoint_map === null ? {} : { checkpoint_map }),
  };
}

/** Converts a LangGraph snapshot into the API's ThreadState. */
export function toThreadState(snapshot: StateSnapshot): Record<string, unknown> {
  const tasks = snapshot.tasks.map((task) => {
    const nested = task.state;
    const isSnapshot = nested !== undefined && "values" in nested;
    return {
      id: task.id,
      name: task.name,
      path: task.path ?? [],
      error: task.error === undefined ? null : errorText(task.error),
      interrupts: task.interrupts ?? [],
      checkpoint: isSnapshot ? null : taskCheckpointOf(nested),
      state: isSnapshot ? toThreadState(nested) : null,
      result: task.result ?? null,
    };
  });
  return {
    values: snapshot.values,
    next: snapshot.next,
    tasks,
    metadata: snapshot.metadata ?? null,
    created_at: snapshot.createdAt ?? null,
    checkpoint: checkpointRefOf(snapshot.config),
    parent_checkpoint: checkpointRefOf(snapshot.parentConfig),
  };
}

/**
 * Returns the part of the newest checkpoint that the thread's record shows. Values too large for one message
 * are null.
 */
export function toThreadSnapshot(snapshot: StateSnapshot): ThreadSnapshot {
  const interrupts: Record<string, WireInterrupt[]> = {};
  for (const task of snapshot.tasks) {
    if (!task.interrupts || task.interrupts.length === 0) continue;
    interrupts[task.id] = toWire(task.interrupts) as WireInterrupt[];
  }
  const values = toWireJson(snapshot.values);
  const isCarried = messageBytes(values) <= MAX_VALUES_BYTES;
  return { values: isCarried ? values : null, next: [...snapshot.next], interrupts };
}

function errorText(error: unknown): string {
  return typeof error === "string" ? error : toWireJson(error);
}
