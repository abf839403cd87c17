import { AsyncBatchedStore, type Operation } from "@langchain/langgraph-checkpoint";

type Pending = {
  operation: Operation;
  resolve: (result: unknown) => void;
  reject: (reason: unknown) => void;
};

/** The parts of LangGraph's class that are replaced, and the field that they work on. */
type Batching = {
  store: {
    batch(operations: Operation[]): Promise<unknown[]>;
    listNamespaces: AsyncBatchedStore["listNamespaces"];
  };
  running: boolean;
  enqueueOperation(operation: Operation): Promise<unknown>;
};

type PutArguments = [
  namespace: string[],
  key: string,
  value: Record<string, unknown>,
  index?: false | string[],
  options?: { ttl?: number | null },
];

/** LangGraph's original method. */
const put: AsyncBatchedStore["put"] = Reflect.get(AsyncBatchedStore.prototype, "put");

const pending = new WeakMap<Batching, Pending[]>();

/**
 * LangGraph wraps the store of every run in this class. Its original polls the queue with a timer of zero
 * milliseconds for as long as the run lasts, cannot list namespaces, and drops the `index` argument of a put.
 * This replacement still sends the operations of one turn as one batch, and runs nothing when there are no
 * operations.
 */
Object.assign(AsyncBatchedStore.prototype, {
  start(this: Batching): void {
    this.running = true;
  },
  async stop(this: Batching): Promise<void> {
    this.running = false;
  },
  enqueueOperation(this: Batching, operation: Operation): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const queue = pending.get(this) ?? [];
      if (queue.length === 0) {
        pending.set(this, queue);
        queueMicrotask(() => void send(this));
      }
      queue.push({ operation, resolve, reject });
    });
  },
  put(this: Batching, ...given: PutArguments): Promise<void> {
    const [namespace, key, value, index, options] = given;
    const more = { ...(index === undefined ? {} : { index }), ...options };
    // LangGraph's original method validates the arguments first, and then enqueues the operation.
    const checked: AsyncBatchedStore = Object.create(this, {
      enqueueOperation: {
        value: (operation: Operation) => this.enqueueOperation({ ...operation, ...more }),
      },
    });
    return put.call(checked, namespace, key, value);
  },
  listNamespaces(
    this: Batching,
    ...options: Parameters<AsyncBatchedStore["listNamespaces"]>
  ): Promise<string[][]> {
    return this.store.listNamespaces(...options);
  },
});

async function send(batching: Batching): Promise<void> {
  const batch = pending.get(batching) ?? [];
  pending.delete(batching);
  try {
    const results = await batching.store.batch(batch.map(({ operation }) => operation));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
