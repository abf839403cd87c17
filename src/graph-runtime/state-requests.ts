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

/** LangGraph's own: what is written by an update of the state, or by a command, and not by a task. */
const NULL_TASK_ID = "00000000-0000-0000-0000-000000000000";

/** JSON text of the thread's state at a checkpoint (the newest without one). */
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
 * What tasks wrote is stored a while before the checkpoint that it leads to. In between LangGraph finds no task that is
 * left, which clients take for the end of the run: they are shown the state before the step, with the step as what is next.
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

/** JSON text of the states before now, newest first; each is read when it is its turn to be sent. */
export function readHistory(
  graph: Graph,
  request: HistoryRequest,
  port: CheckpointPort,
): Promise<JsonText> {
  // What is read after this call has ended is read by a port of its own.
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

/** A stub is disposed when the call that brought it ends; a copy of it when it is said. */
function ownPort(port: CheckpointPort): CheckpointPort & Disposable {
  return (port as CheckpointPort & { dup: () => CheckpointPort & Disposable }).dup();
}

/** Applies supersteps of updates, each as one checkpoint, and answers with where that led. */
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
    // LangGraph refuses an update with an Error of its own: unknown node, ambiguous node, wrong shape.
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
