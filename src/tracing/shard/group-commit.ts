interface Disk {
  /** Resolves when what was written is on disk. */
  sync: () => Promise<void>;
}

/**
 * What changes an object while an earlier change of it is on its way to the disk waits for that, and is then made
 * together with all others that have waited: changes of one turn are one commit. A change that comes alone
 * is made at once. One that fails fails alone, as each is a transaction of its own.
 */
export class GroupCommit {
  readonly #storage: Disk;
  #waiting: (() => void)[] = [];
  #isWriting = false;

  constructor(storage: Disk) {
    this.#storage = storage;
  }

  /** Makes the change, and resolves with what it returns; the runtime holds answers back until it is on disk. */
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
      // When the disk fails the object is started anew, and nobody waits for it any more.
      await this.#storage.sync().catch(() => undefined);
    }
    this.#isWriting = false;
  }
}
