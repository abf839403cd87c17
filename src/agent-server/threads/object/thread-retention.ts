import type { PruneResult } from "../contract/thread-requests.ts";
import type { ThreadStates } from "../runs/thread-states.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { ThreadTtl } from "../storage/thread-ttl.ts";
import type { ThreadRemoval } from "./thread-removal.ts";

/**
 * Milliseconds after which a thread that could not be pruned, because its state was being written, is checked
 * again.
 */
const POSTPONED_MS = 60_000;

type ThreadRetentionDeps = {
  storage: ThreadStorage;
  states: ThreadStates;
  removal: ThreadRemoval;
};

/** Prunes a thread when it expires or on request: either all of it, or all but its latest checkpoint. */
export class ThreadRetention {
  readonly #deps: ThreadRetentionDeps;

  constructor(deps: ThreadRetentionDeps) {
    this.#deps = deps;
  }

  /** Prunes the thread if it has expired. A run in flight postpones this until the alarm after its end. */
  async expire(now: number): Promise<void> {
    const { storage } = this.#deps;
    const { ttl_strategy, expires_at } = storage.thread.get();
    if (ttl_strategy === null || expires_at === null || expires_at > now) return;
    if (storage.runs.inFlight().length > 0) return;
    const result = await this.prune(ttl_strategy);
    if (!storage.exists) return;
    storage.transaction(() =>
      storage.thread.expireAt(result === "busy" ? now + POSTPONED_MS : null),
    );
  }

  /**
   * Prunes the thread. `delete` removes it and abandons its runs; `keep_latest` does nothing while its state is
   * being written.
   */
  async prune(strategy: ThreadTtl["strategy"]): Promise<PruneResult> {
    const { storage, states, removal } = this.#deps;
    if (strategy === "delete") {
      await removal.removeNow();
      return "pruned";
    }
    for (;;) {
      if (!storage.exists || storage.thread.get().deleted === 1) return "missing";
      if (storage.runs.inFlight().length > 0 || states.isUpdating) return "busy";
      if (!storage.transaction(() => storage.checkpoints.prune())) return "pruned";
      // Other work of the object can run before the next turn.
      await scheduler.wait(0);
    }
  }
}
