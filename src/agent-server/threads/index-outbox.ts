import type { ThreadIndexObject } from "../thread-index/thread-index-object.ts";
import type { ThreadStorage } from "./thread-storage.ts";

/** Lets a short run go from busy to idle within one write of the index. */
const DRAIN_DELAY_MS = 25;

/** An answer does not wait longer than this for the index; the outbox goes on by itself. */
const DRAIN_PATIENCE_MS = 1000;

/**
 * Keeps the thread's row in the D1 index up to date. The row is a function of the thread, with a
 * version that only grows, so the outbox is no list of changes but a comparison: what the index has
 * confirmed against what the thread is now. A lost write is repeated by the object's alarm.
 */
export class IndexOutbox {
  readonly #env: Env;
  readonly #storage: ThreadStorage;
  /** Confirmed by the index; ahead of the stored mark until an alarm records it. */
  #confirmed = 0;
  #draining: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(env: Env, storage: ThreadStorage) {
    this.#env = env;
    this.#storage = storage;
  }

  isDirty(): boolean {
    const thread = this.#storage.thread.get();
    if (thread.temporary === 1) return false;
    return thread.version > Math.max(this.#confirmed, thread.indexed_version);
  }

  /** In the background, shortly. */
  drainSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.drain();
    }, DRAIN_DELAY_MS);
  }

  /** Resolves when the index shows the thread as it is now, or when patience ends. Never rejects. */
  async drain(): Promise<void> {
    this.#draining ??= this.#write().finally(() => {
      this.#draining = null;
    });
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, DRAIN_PATIENCE_MS);
    await Promise.race([this.#draining, patience.promise]);
    clearTimeout(timer);
  }

  /** Spares the next start of the object a write that confirms what is known. In a transaction. */
  recordConfirmed(): void {
    const thread = this.#storage.thread.get();
    if (this.#confirmed > thread.indexed_version) {
      this.#storage.thread.confirmIndexed(this.#confirmed);
    }
  }

  /** Removes the thread from the index; rejects when that failed. */
  async remove(): Promise<void> {
    const thread = this.#storage.thread.get();
    if (thread.temporary === 1) return;
    await this.#object().remove(thread.thread_id, thread.version);
  }

  async #write(): Promise<void> {
    while (this.#storage.thread.find() !== null && this.isDirty()) {
      const row = this.#storage.thread.get();
      if (row.deleted === 1) return;
      try {
        await this.#object().put([toIndexRow(row, this.#storage.thread.values())]);
      } catch (error) {
        // The alarm that is set while the row is dirty tries again.
        console.error({ event: "index_write_failed", error: String(error) });
        return;
      }
      this.#confirmed = row.version;
    }
  }

  #object(): DurableObjectStub<ThreadIndexObject> {
    const { workspace_id, deployment_id } = this.#storage.thread.get();
    const namespace = this.#env.THREAD_INDEX;
    return namespace.get(namespace.idFromName(`${workspace_id}/${deployment_id}`));
  }
}
