/** Beyond these a call is refused: each holds what it was asked with. */
const MAX_WAITING = 1000;

/**
 * Does what deployed code asks for one call after the other. Code that asks for a thousand things at once holds up
 * nobody but itself.
 */
export class CallQueue {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /**
   * Rejects with what `work` throws, and when too many calls wait already. With `rest` other work of the object
   * comes before the next call: for work that is done in one turn.
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
