import { DurableObject } from "cloudflare:workers";
import { deleteThread, type ThreadIndexRow, upsertThread } from "../../../db/threads-repo.ts";
import type { Scope } from "../../../lib/scope.ts";
import { CombiningWriter } from "./combining-writer.ts";
import { moveSomeThreads } from "./move-threads.ts";
import { formerThreadDatabases, threadDatabase } from "./thread-databases.ts";

const MAX_BATCH_ROWS = 50;
const MAX_BATCH_CHARS = 4 * 1024 * 1024;
/** Maximum milliseconds that rows wait for those of other threads, while several threads change at once. */
const MAX_GATHER_MS = 10;

type IndexWrite =
  | { kind: "put"; scope: Scope; row: ThreadIndexRow }
  | { kind: "remove"; scope: Scope; threadId: string; version: number };

/**
 * The writer of one scope's thread index in D1. D1 executes one write at a time, so the threads of a scope send
 * their rows here, where they are combined into few batches. It has no storage and no alarm: if it cannot write a
 * row, the ThreadObject still has it and sends it again.
 */
export class ThreadIndexObject extends DurableObject<Env> {
  readonly #writer = new CombiningWriter<IndexWrite>(
    (writes) => this.#send(writes),
    (newer, older) =>
      newer.kind === "put" && older.kind === "put" && newer.row.version >= older.row.version,
    { maxItems: MAX_BATCH_ROWS, maxSize: MAX_BATCH_CHARS, maxGatherMs: MAX_GATHER_MS },
  );

  /** Resolves when D1 has these rows, or newer ones. */
  async put(rows: ThreadIndexRow[]): Promise<void> {
    await Promise.all(
      rows.map((row) =>
        this.#writer.write({
          key: row.thread_id,
          item: {
            kind: "put",
            scope: { workspaceId: row.workspace_id, deploymentId: row.deployment_id },
            row,
          },
          size: row.json_chars,
        }),
      ),
    );
  }

  /** Resolves when D1 has no row of the thread up to this version. */
  async remove(scope: Scope, threadId: string, version: number): Promise<void> {
    await this.#writer.write({
      key: threadId,
      item: { kind: "remove", scope, threadId, version },
      size: 0,
    });
  }

  /** Does the same for threads that no longer exist, whatever the version of their rows. */
  async removeAll(scope: Scope, threadIds: readonly string[]): Promise<void> {
    await Promise.all(threadIds.map((id) => this.remove(scope, id, Number.MAX_SAFE_INTEGER)));
  }

  /** Moves some threads from a database that the workspace used before; returns false if there are none. */
  moveThreads(scope: Scope): Promise<boolean> {
    // Runs alone, because a thread that is removed while it is moved would reappear.
    return this.#writer.alone(() => moveSomeThreads(this.env, scope));
  }

  async #send(writes: IndexWrite[]): Promise<void> {
    const [first] = writes;
    if (first === undefined) return;
    // All writes of an object belong to one scope.
    const { scope } = first;
    const removals = writes.filter((write) => write.kind === "remove");
    if (removals.length > 0) {
      for (const database of formerThreadDatabases(this.env, scope)) {
        await database.batch(removals.map((removal) => toStatement(database, removal)));
      }
    }
    const database = threadDatabase(this.env, scope);
    await database.batch(writes.map((write) => toStatement(database, write)));
  }
}

function toStatement(database: D1Database, write: IndexWrite): D1PreparedStatement {
  return write.kind === "put"
    ? upsertThread(database, write.row)
    : deleteThread(database, write.scope, write.threadId, write.version);
}
