import type { Result } from "../contract/failures.ts";
import type { ThreadCopy } from "../contract/thread-requests.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";

/** Reads the copy in one turn, so that its parts are consistent even while a run is executing. */
export function readCopy(storage: ThreadStorage): Result<ThreadCopy, "thread_too_large"> {
  const checkpoints = storage.checkpoints.copied();
  if (checkpoints === null) return { ok: false, code: "thread_too_large" };
  const { metadata, graph_id, settled_status, interrupts, error } = storage.thread.get();
  return {
    ok: true,
    value: {
      metadata: JSON.parse(metadata),
      shown: { graph_id, settled_status, interrupts, error },
      values: storage.thread.values(),
      checkpoints,
    },
  };
}

/** Fills a thread that was just created. Must be called in the transaction that created it. */
export function writeCopy(storage: ThreadStorage, copy: ThreadCopy): void {
  const { thread, checkpoints } = storage;
  checkpoints.fill(copy.checkpoints, thread.get().thread_id);
  thread.takeState(copy.shown, copy.values);
}
