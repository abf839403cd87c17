import type { NoteUnknown } from "../../http/unknown-members.ts";
import {
  FeedbackBodyError,
  type FeedbackInput,
  parseFeedbackBody,
} from "../feedback/feedback-input.ts";
import type { FeedbackDeps } from "../feedback/feedback-shards.ts";
import { recordFeedback } from "../feedback/record-feedback.ts";
import { malformed } from "./decode/invalid-run.ts";
import type { RunFailure } from "./run-failure.ts";

/** One is half a megabyte at most. */
const MAX_HELD = 50;

/** The feedback of one request, recorded some at a time. */
export class ReceivedFeedback {
  readonly failures: RunFailure[] = [];
  readonly #deps: FeedbackDeps;
  readonly #workspaceId: string;
  readonly #onUnknown: NoteUnknown;
  #held: FeedbackInput[] = [];

  constructor(deps: FeedbackDeps, workspaceId: string, onUnknown: NoteUnknown) {
    this.#deps = deps;
    this.#workspaceId = workspaceId;
    this.#onUnknown = ({ path, keys }) => onUnknown({ path: ["feedback", 0, ...path], keys });
  }

  /** True when it has to be flushed before there is more. */
  add({ id, value }: { id: string; value: unknown }): boolean {
    try {
      this.#held.push(parseFeedbackBody(value, id, this.#onUnknown));
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
