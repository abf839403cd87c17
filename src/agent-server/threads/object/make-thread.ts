import type { CronTick } from "../../../lib/cron-tick.ts";
import type { Scope } from "../../../lib/scope.ts";
import { keepTick } from "../storage/cron-tick.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { ThreadTtl } from "../storage/thread-ttl.ts";

export type NewThread = {
  scope: Scope;
  thread_id: string;
  metadata: Record<string, unknown>;
  /** Whether the thread belongs to one stateless run, and is removed with it. */
  temporary: boolean;
  /** The time to live; a temporary thread is removed with its run instead. */
  ttl: ThreadTtl | null;
  /** The cron tick that requested the run of a temporary thread. */
  tick?: CronTick | undefined;
};

/** Creates the thread that an object stores, and its tables if they do not exist yet. */
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
