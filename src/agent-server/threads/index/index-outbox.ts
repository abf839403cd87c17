import type { ThreadIndexRow } from "../../../db/threads-repo.ts";
import { log } from "../../../lib/log.ts";
import { withTimeout } from "../../../lib/with-timeout.ts";
import { threadIndex } from "./thread-index.ts";
import type { ThreadIndexObject } from "./thread-index-object.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";

/** Milliseconds that a write is delayed, so that a short run goes from busy to idle within one write of the index. */
const DRAIN_DELAY_MS = 25;

/** Milliseconds that a write is delayed if the run's creator waits for the run, whose end writes the index anyway. */
const PATIENT_DRAIN_DELAY_MS = 250;

/** Maximum milliseconds that a response waits for the index. The outbox continues in the background. */
const DRAIN_PATIENCE_MS = 1000;

/**
 * Keeps the thread's row in the D1 index up to date. The row is a function of the thread, with a version that only
 * grows. So the outbox holds no list of changes; it compares the version that the index has confirmed with the
 * current one. A failed write is repeated by the object's alarm.
 */
export class IndexOutbox {
  readonly #env: Env;
  readonly #storage: ThreadStorage;
  /** The version that the index has confirmed; ahead of the stored mark until an alarm records it. */
  #confirmed = 0;
  #writing: Promise<boolean> | null = null;
  #failed = false;
  #timer: { handle: ReturnType<typeof setTimeout>; delayMs: number } | null = null;

  constructor(env: Env, storage: ThreadStorage) {
    this.#env = env;
    this.#storage = storage;
  }

  /** Resets the state when the thread is deleted; a new thread with the same id starts from the beginning. */
  reset(): void {
    this.#confirmed = 0;
    this.#failed = false;
  }

  /** Whether the last write failed, so that an alarm must try again. */
  hasFailed(): boolean {
    return this.#failed;
  }

  /** Whether the index has not yet confirmed the thread's current version. */
  isDirty(): boolean {
    return this.#isDirty(this.#storage.thread.get());
  }

  /** Writes in the background after a short delay, then calls `done`. */
  drainSoon(done: () => void): void {
    if (this.#timer !== null && this.#timer.delayMs <= DRAIN_DELAY_MS) return;
    this.#startTimer(DRAIN_DELAY_MS, done);
  }

  /** Writes in the background after a longer delay, in which a short run may end. */
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

  /** Resolves when the index has the thread's current version, or the maximum wait is over. Never rejects. */
  async drain(): Promise<void> {
    const thread = this.#storage.thread.find();
    if (thread === null || !this.#isDirty(thread)) return;
    await withTimeout(DRAIN_PATIENCE_MS, this.#writtenUpTo(thread.version), () => undefined);
  }

  /**
   * Stores the version that the index has confirmed, so that the next start need not write it again. Must be
   * called in a transaction.
   */
  recordConfirmed(): void {
    const thread = this.#storage.thread.get();
    if (this.#confirmed > thread.indexed_version) {
      this.#storage.thread.confirmIndexed(this.#confirmed);
    }
  }

  /** Removes the thread from the index; rejects if that fails. */
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

  /** Writes the current row; returns false if that failed or there is no row to write. */
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

/** Values longer than this stay in the ThreadObject only, because the index serves searches. */
const MAX_VALUES_CHARS = 256 * 1024;

/** A D1 row holds at most 2 MB, and a character takes up to three bytes. */
const MAX_REST_CHARS = 384 * 1024;

/** Returns the index row of a thread. */
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
    // The metadata has priority: searches need it more than lists need the other fields.
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
