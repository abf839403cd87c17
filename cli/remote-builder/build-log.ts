import type { BuildLine, TellBuild } from "../../src/lib/remote-build.ts";

/** Readers of a log ask for more every second or two. */
const PAUSE_MS = 500;

/**
 * What a build tells while it goes on. Lines leave together, one call at a time, in the order in which they were
 * added. A build that nobody listens to any more is not told so here: it finds its packages refused.
 */
export class BuildLog {
  readonly #tell: TellBuild;
  #lines: BuildLine[] = [];
  #told: Promise<void> = Promise.resolve();
  #isTelling = false;

  constructor(tell: TellBuild) {
    this.#tell = tell;
  }

  info(message: string, facts: Pick<BuildLine, "largest"> = {}): void {
    this.#add({ level: "info", message, ...facts });
  }

  warn(message: string): void {
    this.#add({ level: "warn", message });
  }

  /** Resolves when all lines have been told. */
  flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length > 0) {
      // Once the build has been given up, nobody waits for its answer, either.
      this.#told = this.#told.then(() => this.#tell(lines)).catch(() => {});
    }
    return this.#told;
  }

  #add(line: BuildLine): void {
    this.#lines.push(line);
    if (!this.#isTelling) void this.#tellUntilSilent();
  }

  async #tellUntilSilent(): Promise<void> {
    this.#isTelling = true;
    while (this.#lines.length > 0) {
      await this.flush();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    this.#isTelling = false;
  }
}
