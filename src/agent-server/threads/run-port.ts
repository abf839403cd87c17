import { RpcTarget } from "cloudflare:workers";
import type {
  CheckpointBatch,
  CheckpointPort,
  CheckpointQuery,
  CommitAck,
  RunBatch,
  RunPort,
  StoredCheckpoint,
  StoreOperation,
  TraceBatch,
  WritableCheckpointPort,
} from "../../graph-runtime/protocol.ts";
import type { CheckpointTable } from "./checkpoint-table.ts";

// Methods of an RpcTarget are all that graph code can reach of a thread. Fields are #private: a
// TypeScript `private` one would be callable.

const PAGE_SIZE = 50;

/** All of a page is in memory at once, which is not the asking code's own. */
const MAX_PAGE_SIZE = 100;

function pageSize(limit: unknown = PAGE_SIZE): number {
  return typeof limit === "number" && limit > 0 ? Math.min(limit, MAX_PAGE_SIZE) : 0;
}

/** Read access to one thread's checkpoints. */
export class ReadPort extends RpcTarget implements CheckpointPort {
  readonly #checkpoints: CheckpointTable;

  constructor(checkpoints: CheckpointTable) {
    super();
    this.#checkpoints = checkpoints;
  }

  async getCheckpoint(ns: string, id: string | null): Promise<StoredCheckpoint | null> {
    return this.#checkpoints.get(ns, id);
  }

  async listCheckpoints(query: CheckpointQuery): Promise<StoredCheckpoint[]> {
    return this.#checkpoints.list({ ...query, limit: pageSize(query.limit) });
  }
}

/** For state updates, which write checkpoints outside a run. */
export class UpdatePort extends ReadPort implements WritableCheckpointPort {
  readonly #save: (batch: CheckpointBatch) => void;

  constructor(checkpoints: CheckpointTable, save: (batch: CheckpointBatch) => void) {
    super(checkpoints);
    this.#save = save;
  }

  async save(batch: CheckpointBatch): Promise<void> {
    this.#save(batch);
  }
}

export type ExecutionCallbacks = {
  commit: (batch: RunBatch) => Promise<CommitAck>;
  cancelled: Promise<void>;
  store: (operations: StoreOperation[]) => Promise<unknown[]>;
  trace: (batch: TraceBatch) => Promise<void>;
};

/** What the host of one attempt of one run can do, and nothing else. */
export class ExecutionPort extends ReadPort implements RunPort {
  readonly #callbacks: ExecutionCallbacks;

  constructor(checkpoints: CheckpointTable, callbacks: ExecutionCallbacks) {
    super(checkpoints);
    this.#callbacks = callbacks;
  }

  async commit(batch: RunBatch): Promise<CommitAck> {
    return this.#callbacks.commit(batch);
  }

  async cancelled(): Promise<void> {
    return this.#callbacks.cancelled;
  }

  async store(operations: StoreOperation[]): Promise<unknown[]> {
    return this.#callbacks.store(operations);
  }

  async trace(batch: TraceBatch): Promise<void> {
    return this.#callbacks.trace(batch);
  }
}
