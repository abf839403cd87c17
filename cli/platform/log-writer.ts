import type { MapFrames } from "./stack-frames.ts";

/**
 * Writes log lines in the order in which they came, each with its locations mapped to the source files. The
 * first location of a module may have to wait until the module's map is made; later lines wait for it, too.
 */
export class LogWriter<Line extends { message: string }> {
  readonly #write: (line: Line) => void;
  #written: Promise<void> = Promise.resolve();

  constructor(write: (line: Line) => void) {
    this.#write = write;
  }

  log(line: Line, mapFrames?: MapFrames): void {
    this.#written = this.#written.then(async () => {
      const message = (await mapFrames?.(line.message)) ?? line.message;
      this.#write({ ...line, message });
    });
  }

  /** Resolves when all lines are written that came before. */
  async written(): Promise<void> {
    await this.#written;
  }
}
