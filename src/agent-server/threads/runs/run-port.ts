import { RpcTarget } from "cloudflare:workers";
import type { CommitAck, RunBatch, RunPort, TraceBatch } from "../../../graph-runtime/protocol.ts";
import {
  type CheckpointBatch,
  type CheckpointPage,
  type CheckpointPort,
  type CheckpointQuery,
  MAX_CHECKPOINT_PAGE,
  type StoredCheckpoint,
  type WritableCheckpointPort,
} from "../../../graph-runtime/checkpoint-port.ts";
import type { StoreOperation, StoreTurn } from "../../../graph-runtime/store-operations.ts";
import type { StorageUse } from "../../../deployment-log/usage-meter.ts";
import { DEFAULT_CHECKPOINT_PAGE, valueBytes, writeBytes } from "../storage/checkpoint-pages.ts";
import type { CheckpointTable } from "../storage/checkpoint-table.ts";

// Graph code can reach nothing of a thread but the methods of an RpcTarget. Fields are #private, because a
// TypeScript `private` one would be callable. The methods' arguments are not checked anywhere else.

/** Counts what the platform reads and writes on behalf of deployed code. */
export type CountUse = (use: StorageUse) => void;

/** Read access to one thread's checkpoints. */
export class ReadPort extends RpcTarget implements CheckpointPort {
  readonly #checkpoints: CheckpointTable;
  readonly #count: CountUse;
  readonly #calls: CallQueue;

  constructor(checkpoints: CheckpointTable, count: CountUse, calls = new CallQueue()) {
    super();
    this.#checkpoints = checkpoints;
    this.#count = count;
    this.#calls = calls;
  }

  async getCheckpoint(
    ns: string,
    id: string | null,
    { apart = false } = {},
  ): Promise<StoredCheckpoint | null> {
    const stored = this.#checkpoints.get(ns, id, { apart });
    this.#count({ operations: 1, rows: 1, bytes: stored === null ? 0 : valueBytes(stored) });
    return stored;
  }

  async getWrites(ns: string, id: string): Promise<StoredCheckpoint["writes"]> {
    const writes = this.#checkpoints.writes(ns, id);
    this.#count({ operations: 1, rows: writes.length, bytes: writeBytes(writes) });
    return writes;
  }

  async checkpointPage(query: CheckpointQuery): Promise<CheckpointPage> {
    checkLimit(query.limit);
    const read = (): CheckpointPage => {
      const { checkpoints, next, rows, bytes } = this.#checkpoints.page(query);
      this.#count({ operations: 1, rows, bytes });
      return { checkpoints, next };
    };
    return this.#calls.add(read, { rest: true });
  }

  /**
   * Lists checkpoints for code that takes a page with fewer than `limit` entries for the last one. Rejects if it
   * is not.
   */
  async listCheckpoints(query: CheckpointQuery): Promise<StoredCheckpoint[]> {
    const { checkpoints, next } = await this.checkpointPage(query);
    if (next !== null && checkpoints.length < (query.limit ?? DEFAULT_CHECKPOINT_PAGE)) {
      throw new Error(
        'These checkpoints are more than one call may read: lower "limit", or deploy the project again to have them read in parts',
      );
    }
    return checkpoints;
  }
}

/** The port of state updates, which write checkpoints outside a run. */
export class UpdatePort extends ReadPort implements WritableCheckpointPort {
  readonly #save: (batch: CheckpointBatch) => void;

  constructor(
    checkpoints: CheckpointTable,
    count: CountUse,
    save: (batch: CheckpointBatch) => void,
  ) {
    super(checkpoints, count);
    this.#save = save;
  }

  async save(batch: CheckpointBatch): Promise<void> {
    this.#save(batch);
  }
}

export type ExecutionCallbacks = {
  commit: (batch: RunBatch) => Promise<CommitAck>;
  cancelled: Promise<void>;
  store: (operations: StoreOperation[]) => Promise<StoreTurn>;
  trace: (batch: TraceBatch) => Promise<void>;
  count: CountUse;
};

/** Everything that the host of one attempt of a run can do. */
export class ExecutionPort extends ReadPort implements RunPort {
  readonly #callbacks: ExecutionCallbacks;
  readonly #calls: CallQueue;

  constructor(checkpoints: CheckpointTable, callbacks: ExecutionCallbacks) {
    const calls = new CallQueue();
    super(checkpoints, callbacks.count, calls);
    this.#callbacks = callbacks;
    this.#calls = calls;
  }

  async commit(batch: RunBatch): Promise<CommitAck> {
    return this.#callbacks.commit(batch);
  }

  async cancelled(): Promise<void> {
    return this.#callbacks.cancelled;
  }

  async storeTurn(operations: StoreOperation[]): Promise<StoreTurn> {
    return this.#calls.add(async () => {
      const turn = await this.#callbacks.store(operations);
      const { rows, bytes } = turn;
      this.#callbacks.count({ operations: operations.length, rows, bytes });
      return turn;
    });
  }

  /** Performs operations for code that expects an answer to each. Rejects if one call cannot perform all of them. */
  async store(operations: StoreOperation[]): Promise<unknown[]> {
    const { answers } = await this.storeTurn(operations);
    if (answers.length < operations.length) {
      throw new Error(
        'These operations of the store are more than one call may read: lower "limit", ask for less at once, or deploy the project again to have them done in parts',
      );
    }
    return answers;
  }

  async trace(batch: TraceBatch): Promise<void> {
    return this.#callbacks.trace(batch);
  }
}

function checkLimit(limit: unknown = DEFAULT_CHECKPOINT_PAGE): void {
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > MAX_CHECKPOINT_PAGE) {
    throw new Error(`"limit" should be an integer from 1 to ${MAX_CHECKPOINT_PAGE} checkpoints`);
  }
}

/** Maximum number of waiting calls, because each holds its arguments in memory. More are refused. */
const MAX_WAITING = 1000;

/**
 * Performs the calls of deployed code one after the other, so that code with a thousand concurrent calls delays
 * only itself.
 */
export class CallQueue {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /**
   * Rejects with the error of `work`, or if too many calls are waiting. With `rest`, other work of the object can
   * run before the next call; it is meant for work that is done in a single turn.
   */
  async add<T>(work: () => T | Promise<T>, { rest = false } = {}): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new Error(
        `More than ${MAX_WAITING} calls to the store and the checkpoints of this run wait: await some of them first`,
      );
    }
    this.#waiting += 1;
    const done = this.#last.then(work);
    const after = rest ? (): Promise<void> => scheduler.wait(0) : (): void => {};
    this.#last = done.then(after, after);
    try {
      return await done;
    } finally {
      this.#waiting -= 1;
    }
  }
}
