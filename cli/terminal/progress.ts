import type { WriteStream } from "node:tty";

const CLEAR_LINE = "\r\u001B[2K";

/** Where a command writes its progress: standard error, so that standard output has results only. */
export type Output = Pick<WriteStream, "write"> & { isTTY?: boolean };

/**
 * Prints permanent lines, and below them one line that changes while the command waits. When the output is
 * not a terminal, each text of that line is printed once as a line of its own.
 */
export class Progress {
  readonly #output: Output;
  #current = "";
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output = process.stderr) {
    this.#output = output;
  }

  /** Prints a permanent line. */
  line(text: string): void {
    this.#erase();
    this.#output.write(`${text}\n`);
    this.#draw();
  }

  warn(text: string): void {
    this.line(`warning: ${text}`);
  }

  /** Shows what the command waits for, until the next text or `end`. */
  show(text: string): void {
    if (text === this.#current) return;
    this.end();
    this.#current = text;
    this.#startedAt = performance.now();
    if (this.#output.isTTY !== true) {
      this.#output.write(`${text} ...\n`);
      return;
    }
    this.#draw();
    this.#timer = setInterval(() => {
      this.#erase();
      this.#draw();
    }, 1000);
    this.#timer.unref();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#erase();
    this.#current = "";
  }

  #draw(): void {
    if (this.#current === "" || this.#output.isTTY !== true) return;
    const seconds = Math.floor((performance.now() - this.#startedAt) / 1000);
    this.#output.write(`${this.#current} ...${seconds === 0 ? "" : ` ${seconds} s`}`);
  }

  #erase(): void {
    if (this.#current !== "" && this.#output.isTTY === true) this.#output.write(CLEAR_LINE);
  }
}
