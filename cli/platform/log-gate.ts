/** Holds log lines back during a start: when a start fails, only its error is worth reading. */
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

  /** Runs `start`. Writes the lines that it logged when it succeeds, and drops them when it fails. */
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
