interface Disk {
  /** Resolves once what was written is on disk. */
  sync: () => Promise<void>;
}

/**
 * Groups changes of an object into commits. A change that arrives while an earlier one is on its way to the disk
 * waits for it, and is then made together with all others that have waited: changes of one turn are one commit.
 * A change that arrives alone is made at once. A failed change does not affect the others, because each of them
 * is a transaction of its own.
 */
export class GroupCommit {
  readonly #storage: Disk;
  #waiting: (() => void)[] = [];
  #isWriting = false;

  constructor(storage: Disk) {
    this.#storage = storage;
  }

  /** Makes the change and resolves with its result; the runtime holds responses back until it is on disk. */
  join<T>(change: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(change());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const changes = this.#waiting;
      this.#waiting = [];
      for (const change of changes) change();
      // If the disk fails, the runtime restarts the object, and no caller waits for it any more.
      await this.#storage.sync().catch(() => undefined);
    }
    this.#isWriting = false;
  }
}
