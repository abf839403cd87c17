/** Holds lines back while a start is going on: of one that fails only the failure is worth reading. */
export class LogGate<Line> {
  #held: Line[] | undefined;
  readonly #write: (line: Line) => void;

  constructor(write: (line: Line) => void) {
    this.#write = write;
  }

  log(line: Line): void {
    if (this.#held === undefined) this.#write(line);
    else this.#held.push(line);
  }

  /** Passes on what `start` logged when it succeeds, and forgets it when it fails. */
  async during<T>(start: () => Promise<T>): Promise<T> {
    const held: Line[] = [];
    this.#held = held;
    try {
      const result = await start();
      for (const line of held) this.#write(line);
      return result;
    } finally {
      this.#held = undefined;
    }
  }
}
