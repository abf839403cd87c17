import type {
  CheckpointRef,
  GraphHostApi,
  HostErrorCode,
  HostResult,
  RunConfig,
  ThreadSnapshot,
  WireCheckpoint,
} from "../../../graph-runtime/protocol.ts";
import { withTimeout } from "../../../lib/with-timeout.ts";
import { isJsonText, type JsonText, readJsonText } from "../../../lib/json-answer.ts";
import type { StorageUse } from "../../../deployment-log/usage-meter.ts";
import type { Result } from "../contract/failures.ts";
import type { OfRevision, UpdateStateRequest } from "../contract/thread-requests.ts";
import { type CountUse, ReadPort, UpdatePort } from "./run-port.ts";
import type { RunRow } from "../storage/run-row.ts";
import { isStopped, parseSnapshot } from "./graph-answers.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";

/** Maximum time and size of reading the state that a run ends with. */
const READ_LIMIT_MS = 10_000;
const MAX_STATE_BYTES = 64 * 1024 * 1024;

export type ThreadStatesDeps = {
  /** Returns the graphs of a revision. */
  host: (revisionId: string | null) => GraphHostApi;
  /** Counts what the platform has read and written on behalf of a revision's code. */
  countUse: (revisionId: string | null, use: StorageUse) => void;
  /** Called when the state was updated, in the transaction that updated it. */
  onUpdate?: (checkpoint: WireCheckpoint, snapshot: ThreadSnapshot) => void;
};

export type StateQuery = OfRevision & { checkpoint: CheckpointRef | null; subgraphs: boolean };

export type HistoryQuery = OfRevision & {
  checkpoint: CheckpointRef | null;
  limit: number;
  before: string | null;
  filter: Record<string, unknown> | null;
};

type ReadFailure = "graph_failed" | "graph_late";

export type PastState = { snapshot: ThreadSnapshot; graphId: string | null };

/**
 * The states of a thread. Only its graph can interpret a checkpoint (which nodes are next, what a subgraph holds),
 * so each method calls the graph host, with access to this thread's checkpoints.
 */
export class ThreadStates {
  readonly #storage: ThreadStorage;
  readonly #deps: ThreadStatesDeps;
  #updates = 0;

  constructor(storage: ThreadStorage, deps: ThreadStatesDeps) {
    this.#storage = storage;
    this.#deps = deps;
  }

  /** Returns the JSON text of a ThreadState. */
  async get(thread: ThreadRow, query: StateQuery): Promise<Result<JsonText, ReadFailure>> {
    if (thread.graph_id === null) return { ok: true, value: EMPTY_STATE };
    const in_flight = this.#storage.runs.running() !== null;
    return this.#read(thread, thread.graph_id, query, in_flight);
  }

  /** Returns the JSON text of a list of ThreadStates, the newest first. */
  async history(
    thread: ThreadRow,
    { revision_id, ...query }: HistoryQuery,
  ): Promise<Result<JsonText, ReadFailure>> {
    if (thread.graph_id === null) return { ok: true, value: "[]" };
    const history = await this.#deps
      .host(revision_id)
      .getHistory(
        { ...graphRef(thread, thread.graph_id), ...query },
        new ReadPort(this.#storage.checkpoints, this.#countOf(revision_id)),
      );
    return toResult(history);
  }

  /** Returns what the thread showed before the run stored anything, and the graph that this state belongs to. */
  async before(run: RunRow): Promise<PastState> {
    const empty: ThreadSnapshot = { values: null, next: [], interrupts: {} };
    const previous = this.#storage.checkpoints.lastBefore(run.run_id);
    if (previous === null) return { snapshot: empty, graphId: null };
    const graphId = previous.graphId ?? run.graph_id;
    return { snapshot: (await this.#at(run, graphId, previous.id)) ?? empty, graphId };
  }

  /** Returns the state that the run left; null if it stored nothing, or its graph cannot read it. */
  async after(run: RunRow): Promise<ThreadSnapshot | null> {
    const checkpointId = this.#storage.checkpoints.lastOfRun(run.run_id);
    if (checkpointId === null) return null;
    return this.#at(run, run.graph_id, checkpointId);
  }

  /** Returns the final values of a run that ended some time ago, as JSON text. */
  async resultOf(run: RunRow): Promise<string> {
    if (run.error !== null) return `{"__error__":${run.error}}`;
    if (run.stop !== null) return run.stop;
    const checkpointId = this.#storage.checkpoints.lastOfRun(run.run_id);
    if (checkpointId === null) return this.#storage.thread.values() ?? "{}";
    return (await this.#at(run, run.graph_id, checkpointId))?.values ?? "{}";
  }

  /** Whether a graph is applying updates now. The checkpoint that they start from must be kept until it is done. */
  get isUpdating(): boolean {
    return this.#updates > 0;
  }

  /** Updates the state. The caller must make sure that no run is in flight. */
  async update(
    thread: ThreadRow,
    request: UpdateStateRequest,
  ): Promise<Result<WireCheckpoint, "no_graph" | "invalid_update" | ReadFailure>> {
    const graphId = request.graph_id ?? thread.graph_id ?? graphOfMetadata(thread);
    if (graphId === null) return { ok: false, code: "no_graph" };
    const { checkpoints, runs, thread: record } = this.#storage;
    let isOpen = true;
    this.#updates += 1;
    const { revision_id, checkpoint: at, supersteps } = request;
    const port = new UpdatePort(checkpoints, this.#countOf(revision_id), (batch) => {
      // The host may still hold the port after it was given up, and a run may have started since.
      if (!isOpen) throw new Error("The update has ended");
      this.#storage.transaction(() => checkpoints.apply(batch, null));
    });
    const asked = { ...graphRef(thread, graphId), checkpoint: at, supersteps };
    const updated = await this.#deps
      .host(revision_id)
      .updateState(asked, port)
      .finally(() => {
        isOpen = false;
        this.#updates -= 1;
      });
    if (!updated.ok) {
      const { code, message } = updated;
      return code === "invalid_update" ? { ok: false, code, message } : readFailure(updated);
    }
    const { checkpoint, snapshot } = updated.value;
    this.#storage.transaction(() => {
      record.setGraph(graphId);
      record.setState(snapshot, isStopped(snapshot) ? "interrupted" : "idle", null);
      record.settle(runs.inFlight().length > 0, Date.now());
      this.#deps.onUpdate?.(checkpoint, snapshot);
    });
    return { ok: true, value: checkpoint };
  }

  /**
   * Reads a state with the code of the run's revision. Returns null if that cannot be called any more, does not
   * answer or returns something malformed, because a run must end in these cases, too.
   */
  async #at(
    { revision_id }: RunRow,
    graphId: string,
    checkpointId: string,
  ): Promise<ThreadSnapshot | null> {
    const query = {
      revision_id,
      checkpoint: { checkpoint_id: checkpointId, checkpoint_ns: "" },
      subgraphs: false,
    };
    try {
      const read = this.#read(this.#storage.thread.get(), graphId, query);
      const text = await withTimeout(READ_LIMIT_MS, textOf(read), () => null);
      return text === null ? null : parseSnapshot(text);
    } catch {
      return null;
    }
  }

  async #read(
    thread: ThreadRow,
    graphId: string,
    { revision_id, ...query }: StateQuery,
    in_flight = false,
  ): Promise<Result<JsonText, ReadFailure>> {
    const port = new ReadPort(this.#storage.checkpoints, this.#countOf(revision_id));
    const ref = graphRef(thread, graphId);
    return toResult(
      await this.#deps.host(revision_id).getState({ ...ref, ...query, in_flight }, port),
    );
  }

  #countOf(revisionId: string | null): CountUse {
    return (use) => this.#deps.countUse(revisionId, use);
  }
}

/** Returns the whole text of a state; null if reading it failed or it is larger than the maximum. */
async function textOf(read: Promise<Result<JsonText, ReadFailure>>): Promise<string | null> {
  const state = await read;
  return state.ok ? readJsonText(state.value, MAX_STATE_BYTES) : null;
}

/** Validates the answer, because the host of a deployment may return anything. */
function toResult(answer: HostResult<JsonText> | null): Result<JsonText, ReadFailure> {
  if (answer?.ok === true && isJsonText(answer.value)) return { ok: true, value: answer.value };
  if (answer?.ok === false) return readFailure(answer);
  return { ok: false, code: "graph_failed", message: "The graph did not answer with JSON text" };
}

function readFailure({ code, message }: { code: HostErrorCode; message: string }) {
  const isLate = code === "graph_late";
  return { ok: false, code: isLate ? "graph_late" : "graph_failed", message } as const;
}

/** The answer of the state endpoint for a thread that has never run. */
const EMPTY_STATE = JSON.stringify({
  values: {},
  next: [],
  tasks: [],
  metadata: null,
  created_at: null,
  checkpoint: null,
  parent_checkpoint: null,
});

function graphRef(
  thread: ThreadRow,
  graphId: string,
): { graph_id: string; config: RunConfig; thread_id: string } {
  const config: Partial<RunConfig> = JSON.parse(thread.config);
  const { configurable = {}, metadata = {} } = config;
  return {
    graph_id: graphId,
    thread_id: thread.thread_id,
    config: { ...config, configurable, metadata },
  };
}

function graphOfMetadata(thread: ThreadRow): string | null {
  const { graph_id }: { graph_id?: unknown } = JSON.parse(thread.metadata);
  return typeof graph_id === "string" ? graph_id : null;
}
