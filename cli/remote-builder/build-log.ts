import type { BuildLine, TellBuild } from "../../src/lib/remote-build.ts";

/** Pause between two calls; readers of a log poll every second or two. */
const PAUSE_MS = 500;

/**
 * The log of a build while it runs. Lines are sent together, one call at a time, in the order in which they
 * were added. A build whose caller is gone does not notice it here, but when its packages are refused.
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

  /** Resolves when all lines have been sent. */
  flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length > 0) {
      // A failure is ignored: once the build has been given up, nothing waits for its result either.
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
