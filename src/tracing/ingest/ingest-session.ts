import { payloadTextLength, type RunWrite } from "../run-write.ts";
import type { RunFailure } from "./run-failure.ts";
import { storeRuns } from "./store-runs.ts";

/** What is held of a request before it is stored; a request of any size passes through it. */
const MAX_HELD_WRITES = 500;
const MAX_HELD_CHARS = 4 * 1024 * 1024;

/** The writes of one request, stored some at a time while the rest is still arriving. */
export class IngestSession {
  readonly failures: RunFailure[] = [];
  /** Of writes that are stored. */
  accepted = 0;
  readonly #env: Env;
  readonly #workspaceId: string;
  readonly #waitUntil: (promise: Promise<unknown>) => void;
  #held: RunWrite[] = [];
  #heldChars = 0;

  constructor(env: Env, workspaceId: string, waitUntil: (promise: Promise<unknown>) => void) {
    this.#env = env;
    this.#workspaceId = workspaceId;
    this.#waitUntil = waitUntil;
  }

  /** Resolves when there is room for more; what it was given may not be stored yet. */
  async add(write: RunWrite): Promise<void> {
    this.#held.push(write);
    this.#heldChars += payloadTextLength(write);
    if (this.#held.length >= MAX_HELD_WRITES || this.#heldChars >= MAX_HELD_CHARS) {
      await this.flush();
    }
  }

  /** Resolves when everything is stored, but for the failures. */
  async flush(): Promise<void> {
    const writes = this.#held;
    if (writes.length === 0) return;
    this.#held = [];
    this.#heldChars = 0;
    const failures = await storeRuns(this.#env, this.#workspaceId, writes, this.#waitUntil);
    this.failures.push(...failures);
    this.accepted += writes.length - failures.length;
  }
}
