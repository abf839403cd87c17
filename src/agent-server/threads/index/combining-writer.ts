/** One write, and the key of the entry that it writes. */
export type KeyedWrite<T> = { key: string; item: T; size: number };

type Waiting<T> = KeyedWrite<T> & {
  done: PromiseWithResolvers<void>[];
};

/** Work that must run while no batch is being sent. */
type Alone = { alone: () => Promise<void> };

export type CombiningLimits = {
  maxItems: number;
  maxSize: number;
  /** Maximum milliseconds that a batch waits for more writes. */
  maxGatherMs: number;
};

/**
 * Combines concurrent writes: while one batch is being sent, further writes wait and are sent together in the next
 * batch. Batches never overlap and keep the order of arrival.
 *
 * A batch that follows one of several writes waits for more of them, as long as that one took. Someone who makes one
 * write after the other therefore never waits, and many at once share larger batches.
 */
export class CombiningWriter<T> {
  readonly #send: (items: T[]) => Promise<void>;
  readonly #replaces: (newer: T, older: T) => boolean;
  readonly #limits: CombiningLimits;
  #queue: (Waiting<T> | Alone)[] = [];
  #sending = false;
  /** Milliseconds that the next batch waits for more writes. */
  #gatherMs = 0;

  /** `replaces` returns whether writing only `newer` has the same effect as writing `older` and then `newer`. */
  constructor(
    send: (items: T[]) => Promise<void>,
    replaces: (newer: T, older: T) => boolean,
    limits: CombiningLimits,
  ) {
    this.#send = send;
    this.#replaces = replaces;
    this.#limits = limits;
  }

  /** Resolves when the write's batch is written; rejects, like all writes of the batch, if that fails. */
  async write(write: KeyedWrite<T>): Promise<void> {
    const done = Promise.withResolvers<void>();
    const last = this.#queue.findLast((waiting) => "key" in waiting && waiting.key === write.key);
    if (last !== undefined && "key" in last && this.#replaces(write.item, last.item)) {
      last.item = write.item;
      last.size = write.size;
      last.done.push(done);
    } else {
      this.#queue.push({ ...write, done: [done] });
    }
    if (!this.#sending) void this.#drain();
    await done.promise;
  }

  /** Runs `work` between two batches, when its turn comes. Writes that arrive later wait for it. */
  async alone<R>(work: () => Promise<R>): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    this.#queue.push({ alone: () => work().then(resolve, reject) });
    if (!this.#sending) void this.#drain();
    return promise;
  }

  async #drain(): Promise<void> {
    this.#sending = true;
    while (this.#queue.length > 0) {
      const [first] = this.#queue;
      if (first !== undefined && "alone" in first) {
        this.#queue.shift();
        await first.alone();
        continue;
      }
      if (this.#gatherMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, this.#gatherMs));
      }
      const batch = this.#nextBatch();
      const startedAt = performance.now();
      try {
        await this.#send(batch.map(({ item }) => item));
        for (const done of batch.flatMap((waiting) => waiting.done)) done.resolve();
      } catch (error) {
        for (const done of batch.flatMap((waiting) => waiting.done)) done.reject(error);
      }
      const took = performance.now() - startedAt;
      this.#gatherMs = batch.length > 1 ? Math.min(took, this.#limits.maxGatherMs) : 0;
    }
    this.#sending = false;
  }

  /**
   * Removes the next batch from the queue: at least one write, however large, and none after queued work of
   * `alone`.
   */
  #nextBatch(): Waiting<T>[] {
    const batch: Waiting<T>[] = [];
    let size = 0;
    for (const next of this.#queue) {
      if ("alone" in next) break;
      size += next.size;
      const isFull = batch.length >= this.#limits.maxItems || size > this.#limits.maxSize;
      if (batch.length > 0 && isFull) break;
      batch.push(next);
    }
    this.#queue.splice(0, batch.length);
    return batch;
  }
}
