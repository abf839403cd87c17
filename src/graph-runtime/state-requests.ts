import { Command, type StateSnapshot } from "@langchain/langgraph";
import { jsonList, jsonText, type JsonText } from "../lib/json-answer.ts";
import { bindCheckpointer, type Graph } from "./graph-registry.ts";
import type {
  CheckpointRef,
  HistoryRequest,
  HostResult,
  StateRequest,
  ThreadSnapshot,
  UpdateRequest,
  WireCheckpoint,
} from "./protocol.ts";
import type {
  CheckpointPort,
  StoredCheckpoint,
  WritableCheckpointPort,
} from "./checkpoint-port.ts";
import { toCommand } from "./run-command.ts";
import { ThreadCheckpointer } from "./thread-checkpointer.ts";
import { checkpointRefOf, toThreadSnapshot, toThreadState } from "./thread-state.ts";
import { toWireJson } from "./wire-json.ts";
import { messageOf } from "../lib/error-text.ts";

type StoredWrite = StoredCheckpoint["writes"][number];

/** LangGraph's task id for writes that come from an update of the state or from a command, and not from a task. */
const NULL_TASK_ID = "00000000-0000-0000-0000-000000000000";

/** Returns the JSON text of the thread's state at a checkpoint, or at the newest when the request names none. */
export async function readState(
  graph: Graph,
  request: StateRequest,
  port: CheckpointPort,
): Promise<JsonText> {
  const bound = bindCheckpointer(graph, readOnlyCheckpointer(request.thread_id, port));
  const config = locate(request.thread_id, request.checkpoint);
  const options = { subgraphs: request.subgraphs };
  let snapshot = await bound.getState(config, options);
  const isNewest = !request.checkpoint?.checkpoint_id;
  if (request.in_flight === true && isNewest && snapshot.next.length === 0) {
    const before = readOnlyCheckpointer(request.thread_id, withoutWrites(port));
    snapshot = await bindCheckpointer(graph, before).getState(config, options);
  }
  return jsonText(toWireJson(toThreadState(snapshot)));
}

/**
 * Returns a port that hides the pending writes of tasks. Writes are stored a while before the checkpoint they
 * lead to. In between LangGraph finds no task left to run, which clients would take for the end of the run.
 * They see the state before the step instead, with the step's nodes in `next`.
 */
function withoutWrites(port: CheckpointPort): CheckpointPort {
  const ofNoTask = ([task]: StoredWrite): boolean => task === NULL_TASK_ID;
  return {
    getCheckpoint: async (...asked) => {
      const stored = await port.getCheckpoint(...asked);
      return stored === null ? null : { ...stored, writes: stored.writes.filter(ofNoTask) };
    },
    getWrites: async (...asked) => (await port.getWrites(...asked)).filter(ofNoTask),
    checkpointPage: (...asked) => port.checkpointPage(...asked),
  };
}

/** Returns the JSON text of the former states, newest first. Each state is read when it is about to be sent. */
export function readHistory(
  graph: Graph,
  request: HistoryRequest,
  port: CheckpointPort,
): Promise<JsonText> {
  // The states are read after this call has returned, so they need a port that outlives it.
  return jsonList(historyOf(graph, request, ownPort(port)));
}

async function* historyOf(
  graph: Graph,
  request: HistoryRequest,
  port: CheckpointPort & Disposable,
): AsyncGenerator<string> {
  using held = port;
  const bound = bindCheckpointer(graph, readOnlyCheckpointer(request.thread_id, held));
  const history = bound.getStateHistory(locate(request.thread_id, request.checkpoint), {
    limit: request.limit,
    ...(request.before !== null
      ? { before: { configurable: { checkpoint_id: request.before } } }
      : {}),
    ...(request.filter !== null ? { filter: request.filter } : {}),
  });
  for await (const snapshot of history) yield toWireJson(toThreadState(snapshot));
}

/**
 * Returns a copy of the port. A stub is disposed when the call that brought it ends; a copy only when its
 * owner disposes it.
 */
function ownPort(port: CheckpointPort): CheckpointPort & Disposable {
  return (port as CheckpointPort & { dup: () => CheckpointPort & Disposable }).dup();
}

/** Applies supersteps of updates, each as one checkpoint, and returns the resulting checkpoint and state. */
export async function writeState(
  graph: Graph,
  request: UpdateRequest,
  port: WritableCheckpointPort,
): Promise<HostResult<{ checkpoint: WireCheckpoint; snapshot: ThreadSnapshot }>> {
  const { thread_id } = request;
  const checkpointer = new ThreadCheckpointer({
    threadId: thread_id,
    port,
    sink: (op) => port.save([op]),
    metadata: { ...request.config.metadata, graph_id: request.graph_id, thread_id },
  });
  const bound = bindCheckpointer(graph, checkpointer);
  const supersteps = request.supersteps.map((updates) => ({
    updates: updates.map(({ values, command, as_node }) => ({
      values: command ? new Command(toCommand(command)) : (values as Record<string, unknown>),
      ...(as_node !== null ? { asNode: as_node } : {}),
    })),
  }));
  let config;
  try {
    config = await bound.bulkUpdateState(locate(thread_id, request.checkpoint), supersteps);
  } catch (error) {
    // LangGraph refuses an update with an Error: unknown node, ambiguous node, or wrong shape.
    return { ok: false, code: "invalid_update", message: messageOf(error) };
  }
  const snapshot: StateSnapshot = await bound.getState(locate(thread_id, null));
  const checkpoint = checkpointRefOf(config);
  if (checkpoint === null) throw new Error("LangGraph returned no checkpoint for the update");
  return { ok: true, value: { checkpoint, snapshot: toThreadSnapshot(snapshot) } };
}

function readOnlyCheckpointer(threadId: string, port: CheckpointPort): ThreadCheckpointer {
  const sink = (): never => {
    throw new Error("Reading a thread's state must not write to it");
  };
  return new ThreadCheckpointer({ threadId, port, sink });
}

function locate(
  threadId: string,
  checkpoint: CheckpointRef | null,
): { configurable: Record<string, unknown> } {
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: checkpoint?.checkpoint_ns ?? "",
      ...(checkpoint?.checkpoint_id ? { checkpoint_id: checkpoint.checkpoint_id } : {}),
      ...(checkpoint?.checkpoint_map ? { checkpoint_map: checkpoint.checkpoint_map } : {}),
    },
  };
}
