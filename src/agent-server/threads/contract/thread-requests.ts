import { matchesMetadata, type Visibility } from "../../../lib/metadata-filter.ts";
import type { CheckpointCopy } from "../storage/checkpoint-copy.ts";
import type { CopiedState, ThreadRow } from "../storage/thread-record.ts";
import type { ThreadTtl } from "../storage/thread-ttl.ts";
import type {
  CheckpointRef,
  StateUpdate,
  WireCheckpoint,
} from "../../../graph-runtime/protocol.ts";
import type { JsonText } from "../../../lib/json-answer.ts";
import type { Scope } from "../../../lib/scope.ts";
import type { Result } from "./failures.ts";
import type { RunStatus } from "../storage/run-row.ts";
import type { Run, Thread } from "./thread-json.ts";

/** Visibility of the platform itself, for calls that no client's request led to. */
export const ALL_THREADS: Visibility = null;

export function isVisible(thread: ThreadRow, to: Visibility): boolean {
  return to === null || matchesMetadata(JSON.parse(thread.metadata), to);
}

export type CreateThreadRequest = {
  scope: Scope;
  thread_id: string;
  metadata: Record<string, unknown>;
  if_exists: "raise" | "do_nothing";
  /** The time to live of the thread. */
  ttl?: ThreadTtl | null;
  /** State updates to apply to the new thread. If they cannot be applied, no thread is created. */
  replay?: UpdateStateRequest;
  /** The state that the thread starts with; without it, the thread starts empty. */
  copy?: ThreadCopy;
};

/** `ttl` restarts the thread's time to live; null leaves it unchanged. */
export type PatchThreadRequest = { metadata: Record<string, unknown>; ttl: ThreadTtl | null };

/** The revision whose graphs read or write; null for the graphs that the Worker was built with. */
export type OfRevision = { revision_id: string | null };

export type UpdateStateRequest = OfRevision & {
  checkpoint: CheckpointRef | null;
  supersteps: StateUpdate[][];
  /** The graph that the state belongs to, for a thread that has not run yet. */
  graph_id: string | null;
};

/** The data that a thread passes to its copy: its visible state and all its checkpoints, but no runs. */
export type ThreadCopy = {
  metadata: Record<string, unknown>;
  shown: CopiedState;
  /** JSON text. */
  values: string | null;
  checkpoints: CheckpointCopy;
};

export type CreateThreadResult = Result<
  Thread,
  "thread_exists" | "no_graph" | "invalid_update" | "graph_failed" | "graph_late"
>;

/** The result of a prune. A thread whose state is being written is "busy" and left unchanged. */
export type PruneResult = "pruned" | "busy" | "missing";

export type CopyThreadResult = Result<ThreadCopy, "thread_not_found" | "thread_too_large">;

export type EventsQuery = {
  last_event_id: number | null;
  modes: string[] | null;
  cancel_on_disconnect: boolean;
};

export const THREAD_STREAM_MODES = ["run_modes", "lifecycle", "state_update"] as const;

export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];

/** A position in a thread's stream: the event of a turn that the reader received last. */
export type ThreadPlace = { turn: number; event: number };

export type ThreadStreamQuery = {
  /** Null starts with the next event. */
  last_event_id: ThreadPlace | "beginning" | null;
  modes: readonly ThreadStreamMode[];
};

export type RunListQuery = {
  limit: number;
  offset: number;
  status: RunStatus | null;
  /** The members of a run to return; null for all. `stopped` tells whether the run has stopped at an interrupt. */
  fields: readonly string[] | null;
};

/** `stream` is set if the creator follows the run. */
export type CreateRunResult = Result<
  { run: Run; stream: ReadableStream<Uint8Array> | null },
  "thread_not_found" | "thread_exists" | "thread_busy"
>;

export type StreamThreadResult = Result<ReadableStream<Uint8Array>, "thread_not_found">;

export type ReadStateResult = Result<JsonText, "thread_not_found" | "graph_failed" | "graph_late">;

export type UpdateStateResult = Result<
  WireCheckpoint,
  "thread_not_found" | "thread_busy" | "no_graph" | "invalid_update" | "graph_failed" | "graph_late"
>;
