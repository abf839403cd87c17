import { FeedbackBodyError, type FeedbackInput } from "../feedback/feedback-input.ts";
import type { FeedbackDeps } from "../feedback/feedback-shards.ts";
import { recordFeedback } from "../feedback/record-feedback.ts";
import { malformed, type RunFailure } from "./decode/invalid-run.ts";

/** Reads a part's JSON; throws a FeedbackBodyError. */
type ReadFeedback = (value: unknown, defaultId: string) => FeedbackInput;

/** One is half a megabyte at most. */
const MAX_HELD = 50;

/** The feedback of one request, recorded some at a time. */
export class ReceivedFeedback {
  readonly failures: RunFailure[] = [];
  readonly #deps: FeedbackDeps;
  readonly #workspaceId: string;
  readonly #read: ReadFeedback;
  #held: FeedbackInput[] = [];

  constructor(deps: FeedbackDeps, workspaceId: string, read: ReadFeedback) {
    this.#deps = deps;
    this.#workspaceId = workspaceId;
    this.#read = read;
  }

  /** True when it has to be flushed before there is more. */
  add({ id, value }: { id: string; value: unknown }): boolean {
    try {
      this.#held.push(this.#read(value, id));
    } catch (error) {
      if (!(error instanceof FeedbackBodyError)) throw error;
      this.#fail(id, error);
    }
    return this.#held.length >= MAX_HELD;
  }

  async flush(): Promise<void> {
    const inputs = this.#held;
    if (inputs.length === 0) return;
    this.#held = [];
    for (const outcome of await recordFeedback(this.#deps, this.#workspaceId, inputs)) {
      if (!outcome.ok) this.#fail(outcome.id, outcome);
    }
  }

  #fail(id: string, { field, message }: { field: string; message: string }): void {
    const text = field === "" ? message : `${field}: ${message}`;
    this.failures.push(malformed(null, `feedback.${id}`, text));
  }
}
