import type { ThreadIndexRow } from "../../../db/threads-repo.ts";
import { log } from "../../../lib/log.ts";
import { withTimeout } from "../../../lib/with-timeout.ts";
import { threadIndex } from "./thread-index.ts";
import type { ThreadIndexObject } from "./thread-index-object.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";

/** How long a write waits, so that a short run goes from busy to idle within one write of the index. */
const DRAIN_DELAY_MS = 25;

/** How long a write waits for a run whose creator waits for it, since its end writes the index anyway. */
const PATIENT_DRAIN_DELAY_MS = 250;

/** An answer does not wait longer than this for the index; the outbox goes on by itself. */
const DRAIN_PATIENCE_MS = 1000;

/**
 * Keeps the thread's row in the D1 index up to date. The row is a function of the thread, with a
 * version that only grows, so the outbox is no list of changes but a comparison: what the index has
 * confirmed against what the thread is now. A lost write is repeated by the object's alarm.
 */
export class IndexOutbox {
  readonly #env: Env;
  readonly #storage: ThreadStorage;
  /** Confirmed by the index; ahead of the stored mark until an alarm records it. */
  #confirmed = 0;
  #writing: Promise<boolean> | null = null;
  #failed = false;
  #timer: { handle: ReturnType<typeof setTimeout>; delayMs: number } | null = null;

  constructor(env: Env, storage: ThreadStorage) {
    this.#env = env;
    this.#storage = storage;
  }

  /** The thread is gone; another one of the same id begins anew. */
  reset(): void {
    this.#confirmed = 0;
    this.#failed = false;
  }

  /** The last write failed: an alarm has to try again. */
  hasFailed(): boolean {
    return this.#failed;
  }

  /** The index has not confirmed the thread as it is now. */
  isDirty(): boolean {
    return this.#isDirty(this.#storage.thread.get());
  }

  /** Writes shortly, in the background, and calls back then. */
  drainSoon(done: () => void): void {
    if (this.#timer !== null && this.#timer.delayMs <= DRAIN_DELAY_MS) return;
    this.#startTimer(DRAIN_DELAY_MS, done);
  }

  /** Writes in the background, but not before a short run may have come to its end. */
  drainLater(done: () => void): void {
    if (this.#timer === null) this.#startTimer(PATIENT_DRAIN_DELAY_MS, done);
  }

  #startTimer(delayMs: number, done: () => void): void {
    if (this.#timer !== null) clearTimeout(this.#timer.handle);
    const handle = setTimeout(() => {
      this.#timer = null;
      void this.drain().then(done);
    }, delayMs);
    this.#timer = { handle, delayMs };
  }

  /** Resolves when the index shows the thread as it is now, or when patience ends. Never rejects. */
  async drain(): Promise<void> {
    const thread = this.#storage.thread.find();
    if (thread === null || !this.#isDirty(thread)) return;
    await withTimeout(DRAIN_PATIENCE_MS, this.#writtenUpTo(thread.version), () => undefined);
  }

  /** Stores what the index has confirmed, so that the next start need not write it again. Call it in a transaction. */
  recordConfirmed(): void {
    const thread = this.#storage.thread.get();
    if (this.#confirmed > thread.indexed_version) {
      this.#storage.thread.confirmIndexed(this.#confirmed);
    }
  }

  /** Removes the thread from the index; rejects when that failed. */
  async remove(): Promise<void> {
    const thread = this.#storage.thread.get();
    if (thread.temporary === 1) return;
    const scope = { workspaceId: thread.workspace_id, deploymentId: thread.deployment_id };
    await this.#object().remove(scope, thread.thread_id, thread.version);
  }

  async #writtenUpTo(version: number): Promise<void> {
    while (this.#confirmed < version) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = null;
      });
      if (!(await this.#writing)) return;
    }
  }

  /** Writes the row as it is now; false when that failed or there is none to write. */
  async #write(): Promise<boolean> {
    const row = this.#storage.thread.find();
    if (row === null || row.deleted === 1) return false;
    try {
      await this.#object().put([toIndexRow(row, this.#storage.thread.values())]);
    } catch (error) {
      // The alarm that is set after a failure tries again.
      this.#failed = true;
      log("error", "error", { event: "index_write_failed", error: String(error) });
      return false;
    }
    this.#failed = false;
    this.#confirmed = Math.max(this.#confirmed, row.version);
    return true;
  }

  #isDirty(thread: ThreadRow): boolean {
    if (thread.temporary === 1) return false;
    return thread.version > Math.max(this.#confirmed, thread.indexed_version);
  }

  #object(): DurableObjectStub<ThreadIndexObject> {
    const { workspace_id, deployment_id } = this.#storage.thread.get();
    return threadIndex(this.#env, { workspaceId: workspace_id, deploymentId: deployment_id });
  }
}

/** Values longer than this stay with the ThreadObject: the index is there to be searched. */
const MAX_VALUES_CHARS = 256 * 1024;

/** A D1 row holds at most 2 MB, and a character takes up to three bytes. */
const MAX_REST_CHARS = 384 * 1024;

/** What the index shows of a thread. */
function toIndexRow(thread: ThreadRow, values: string | null): ThreadIndexRow {
  const { metadata, config, interrupts, error } = thread;
  const valuesChars = values?.length ?? 0;
  const restChars = metadata.length + config.length + interrupts.length + (error?.length ?? 0);
  const omitted =
    restChars > MAX_REST_CHARS ? "all" : valuesChars > MAX_VALUES_CHARS ? "values" : "none";
  const isWhole = omitted !== "all";
  return {
    workspace_id: thread.workspace_id,
    deployment_id: thread.deployment_id,
    thread_id: thread.thread_id,
    status: thread.status,
    // Searches need the metadata more than lists need the rest.
    metadata: metadata.length <= MAX_REST_CHARS ? metadata : "{}",
    config: isWhole ? config : "{}",
    state_values: omitted === "none" ? values : null,
    interrupts: isWhole ? interrupts : "{}",
    error: isWhole ? error : null,
    omitted,
    values_chars: valuesChars,
    json_chars: restChars + valuesChars,
    created_at: thread.created_at,
    updated_at: thread.updated_at,
    state_updated_at: thread.state_updated_at,
    version: thread.version,
  };
}
