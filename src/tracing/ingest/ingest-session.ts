import { payloadTextLength, type RunWrite } from "../model/run-write.ts";
import { deleteObjects } from "./received-attachments.ts";
import type { RunFailure } from "./decode/invalid-run.ts";
import { storeRuns } from "./store-runs.ts";

/** Limits on what is held of a request before it is stored, so that a request of any size passes through. */
const MAX_HELD_WRITES = 500;
const MAX_HELD_CHARS = 4 * 1024 * 1024;

/** The writes of one request, stored some at a time while the rest is still arriving. */
export class IngestSession {
  readonly failures: RunFailure[] = [];
  /** Number of stored writes. */
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

  /** Resolves once there is room for more writes; those added so far may not be stored yet. */
  async add(write: RunWrite): Promise<void> {
    this.#held.push(write);
    this.#heldChars += textLength(write);
    if (this.#held.length >= MAX_HELD_WRITES || this.#heldChars >= MAX_HELD_CHARS) {
      await this.flush();
    }
  }

  /** Resolves once all writes are stored, except for the failures. */
  async flush(): Promise<void> {
    const writes = this.#held;
    if (writes.length === 0) return;
    this.#held = [];
    this.#heldChars = 0;
    const failures = await storeRuns(this.#env, this.#workspaceId, writes, this.#waitUntil);
    this.failures.push(...failures);
    this.accepted += writes.length - failures.length;
    if (failures.length > 0) {
      await deleteObjects(this.#env.PAYLOADS, unstoredAttachments(writes, failures));
    }
  }
}

/** Returns the size of a write in memory and on its way to its shard, in UTF-16 code units. */
function textLength(write: RunWrite): number {
  const { identity, name, tags, facts } = write;
  return (
    payloadTextLength(write) +
    (identity?.dottedOrder.length ?? 0) +
    (name?.length ?? 0) +
    (tags?.reduce((sum, tag) => sum + tag.length, 0) ?? 0) +
    (facts.inputLeaves?.length ?? 0) +
    (facts.outputLeaves?.length ?? 0)
  );
}

/** Returns the objects of runs of which no write was stored. */
function unstoredAttachments(
  writes: readonly RunWrite[],
  failures: readonly RunFailure[],
): string[] {
  const failed = new Map<string, number>();
  for (const { runId } of failures) {
    if (runId !== null) failed.set(runId, (failed.get(runId) ?? 0) + 1);
  }
  const stored = new Set<string>();
  for (const { id } of writes) {
    const left = failed.get(id) ?? 0;
    if (left === 0) stored.add(id);
    else failed.set(id, left - 1);
  }
  return writes
    .filter(({ id }) => !stored.has(id))
    .flatMap(({ attachments = [] }) => attachments.map(({ object }) => object));
}
