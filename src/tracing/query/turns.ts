import { ApiError } from "../../lib/api-error.ts";
import type { RunPosition } from "../model/run-page.ts";

/** The turns of all shards that a request asks, each about a tenth of a second: see scan-turn.ts. */
const MAX_TURNS = 600;

const REST_MS = 2;

export class TooManyTurns extends ApiError {
  constructor() {
    const msg =
      "There are too many runs to look at all of them: narrow the time range, or name the project, " +
      "the trace, the thread or the name of the runs";
    super("validation", msg, {
      detail: [{ loc: ["body", "filter"], msg, type: "query_too_large" }],
    });
  }
}

/**
 * What a request may look at in all. It asks the shards for one turn after the other, so that others
 * have theirs in between, and so that nothing goes on when its client has gone.
 */
export class Turns {
  #left: number;

  constructor(most: number = MAX_TURNS) {
    this.#left = most;
  }

  /** Counts one that was used up, and rests. Throws a 422 when there are no more. */
  async spend(): Promise<void> {
    this.#left -= 1;
    if (this.#left < 0) throw new TooManyTurns();
    // A local workerd looks at its sockets and files only when nothing else is left to be done.
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
  }

  /** Takes all that `read` gives, row by row. */
  async readAll<T>(
    read: (after: RunPosition | null) => Promise<{ rows: T[]; next: RunPosition | null }>,
    take: (row: T) => void,
  ): Promise<void> {
    let after: RunPosition | null = null;
    do {
      const { rows, next } = await read(after);
      for (const row of rows) take(row);
      after = next;
      if (after !== null) await this.spend();
    } while (after !== null);
  }
}
