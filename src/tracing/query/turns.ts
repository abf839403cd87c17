import { ApiError } from "../../lib/api-error.ts";
import type { RunPosition } from "../model/run-page.ts";

/** Maximum turns per request over all shards, each about a tenth of a second: see scan-turn.ts. */
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
 * The total work that a request may cause. It requests one turn of a shard after the other, so that other
 * requests have theirs in between, and so that the work ends when the client has gone.
 */
export class Turns {
  #left: number;

  constructor(most: number = MAX_TURNS) {
    this.#left = most;
  }

  /** Counts a turn that was used up, and pauses. Throws a 422 if there are no more. */
  async spend(): Promise<void> {
    this.#left -= 1;
    if (this.#left < 0) throw new TooManyTurns();
    // A local workerd serves its sockets and files only when it has nothing else to do.
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
  }

  /** Passes everything that `read` returns to `take`, row by row. */
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
