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

/** The platform itself sees all threads, where no client's request has led to the call. */
export const ALL_THREADS: Visibility = null;

export function isVisible(thread: ThreadRow, to: Visibility): boolean {
  return to === null || matchesMetadata(JSON.parse(thread.metadata), to);
}

export type CreateThreadRequest = {
  scope: Scope;
  thread_id: string;
  metadata: Record<string, unknown>;
  if_exists: "raise" | "do_nothing";
  /** When it goes by itself. */
  ttl?: ThreadTtl | null;
  /** Updates of the state that it is made with: with a thread that they cannot be applied to, nothing is made. */
  replay?: UpdateStateRequest;
  /** What the thread begins with; without it, it begins empty. */
  copy?: ThreadCopy;
};

/** `ttl` begins the thread's time anew; null leaves it as it is. */
export type PatchThreadRequest = { metadata: Record<string, unknown>; ttl: ThreadTtl | null };

/** Whose graphs are to read or write; null for those that the Worker was built with. */
export type OfRevision = { revision_id: string | null };

export type UpdateStateRequest = OfRevision & {
  checkpoint: CheckpointRef | null;
  supersteps: StateUpdate[][];
  /** For a thread that has not run yet: the graph whose state this is. */
  graph_id: string | null;
};

/** What a thread gives to its copy: what it shows of its state, and all its checkpoints, but no runs. */
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

/** What a prune did: a thread whose state is being written is left as it is. */
export type PruneResult = "pruned" | "busy" | "missing";

export type CopyThreadResult = Result<ThreadCopy, "thread_not_found" | "thread_too_large">;

export type EventsQuery = {
  last_event_id: number | null;
  modes: string[] | null;
  cancel_on_disconnect: boolean;
};

export const THREAD_STREAM_MODES = ["run_modes", "lifecycle", "state_update"] as const;

export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];

/** A place in what happened on a thread: an event of a turn, which its reader has had. */
export type ThreadPlace = { turn: number; event: number };

export type ThreadStreamQuery = {
  /** Null joins at what comes next. */
  last_event_id: ThreadPlace | "beginning" | null;
  modes: readonly ThreadStreamMode[];
};

export type RunListQuery = {
  limit: number;
  offset: number;
  status: RunStatus | null;
  /** Which members of a run to tell; null for all. `stopped` is whether it has stopped at an interrupt. */
  fields: readonly string[] | null;
};

/** `stream` is set when the creator follows the run. */
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
