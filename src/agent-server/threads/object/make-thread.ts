import type { CronTick } from "../../../lib/cron-tick.ts";
import type { Scope } from "../../../lib/scope.ts";
import { keepTick } from "../storage/cron-tick.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { ThreadTtl } from "../storage/thread-ttl.ts";

export type NewThread = {
  scope: Scope;
  thread_id: string;
  metadata: Record<string, unknown>;
  /** It belongs to one stateless run, and goes with it. */
  temporary: boolean;
  /** When it goes by itself; a temporary thread goes with its run. */
  ttl: ThreadTtl | null;
  /** The tick of a cron that asked for the run of a temporary thread. */
  tick?: CronTick | undefined;
};

/** Makes the thread that an object stores, and its tables when nothing was stored there yet. */
export function makeThread(storage: ThreadStorage, thread: NewThread): void {
  const { scope, thread_id, metadata, temporary, ttl, tick } = thread;
  storage.transaction(() => {
    if (!storage.exists) storage.makeTables();
    if (temporary && tick !== undefined) keepTick(storage.texts, tick);
    storage.thread.create({
      thread_id,
      workspace_id: scope.workspaceId,
      deployment_id: scope.deploymentId,
      metadata,
      temporary,
      ttl: temporary ? null : ttl,
      now: Date.now(),
    });
  });
}
