import type { Visibility } from "../../../lib/metadata-filter.ts";
import {
  ALL_THREADS,
  type CreateThreadRequest,
  type CreateThreadResult,
  isVisible,
} from "../contract/thread-requests.ts";
import { type Thread, toThreadJson } from "../contract/thread-json.ts";
import type { ThreadStates } from "../runs/thread-states.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import { makeThread } from "./make-thread.ts";
import type { ThreadAlarm } from "./thread-alarm.ts";
import { writeCopy } from "./thread-copy.ts";
import type { ThreadRemoval } from "./thread-removal.ts";

type ThreadCreationDeps = {
  storage: ThreadStorage;
  states: ThreadStates;
  removal: ThreadRemoval;
  alarm: ThreadAlarm;
  /** Returns the thread if it exists and is not being removed. */
  wake: (filter: Visibility) => ThreadRow | null;
  /** Resolves when the index has the changes. */
  indexed: () => Promise<void>;
};

/**
 * Creates threads. A thread that is created with a state is hidden until its graph has written the whole state,
 * like a thread that is being removed: if the graph refuses, or the process dies, the alarm finds a thread to
 * remove.
 */
export class ThreadCreation {
  readonly #deps: ThreadCreationDeps;
  #making: Promise<CreateThreadResult> | null = null;

  constructor(deps: ThreadCreationDeps) {
    this.#deps = deps;
  }

  /** Whether a state is being written into a thread that is still hidden. */
  get isMaking(): boolean {
    return this.#making !== null;
  }

  /** Resolves when no thread with this id is being created or removed. Must be awaited before one is created. */
  async settled(): Promise<void> {
    while (this.#making !== null) await this.#making;
    const { storage, removal } = this.#deps;
    const left = storage.exists ? storage.thread.find() : null;
    if (left !== null && left.deleted === 1 && left.temporary === 0) await removal.finish();
  }

  async create(filter: Visibility, request: CreateThreadRequest): Promise<CreateThreadResult> {
    await this.settled();
    const existing = this.#deps.wake(ALL_THREADS);
    if (existing !== null) {
      if (request.if_exists === "raise" || !isVisible(existing, filter)) {
        return { ok: false, code: "thread_exists" };
      }
      return { ok: true, value: this.#thread() };
    }
    if (request.replay === undefined) {
      this.#make(request);
      if (request.ttl) this.#deps.alarm.schedule(Date.now());
      await this.#deps.indexed();
      return { ok: true, value: this.#thread() };
    }
    this.#making = this.#makeWith(request, request.replay).finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  #make({ scope, thread_id, metadata, ttl = null, copy, replay }: CreateThreadRequest): void {
    const { storage } = this.#deps;
    storage.transaction(() => {
      makeThread(storage, { scope, thread_id, metadata, temporary: false, ttl });
      if (copy !== undefined) writeCopy(storage, copy);
      if (replay !== undefined) storage.thread.markDeleted();
    });
  }

  async #makeWith(
    request: CreateThreadRequest,
    replay: NonNullable<CreateThreadRequest["replay"]>,
  ): Promise<CreateThreadResult> {
    const { storage, states, removal, alarm, indexed } = this.#deps;
    this.#make(request);
    alarm.schedule(Date.now());
    try {
      const written = await states.update(storage.thread.get(), replay);
      if (!written.ok) return written;
      storage.transaction(() => storage.thread.show());
      await indexed();
      return { ok: true, value: this.#thread() };
    } finally {
      if (storage.thread.find()?.deleted === 1) await removal.finish();
    }
  }

  #thread(): Thread {
    const { thread } = this.#deps.storage;
    return toThreadJson(thread.get(), thread.values());
  }
}
