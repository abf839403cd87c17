import { DurableObject } from "cloudflare:workers";
import { deleteThread, type ThreadIndexRow, upsertThread } from "../../../db/threads-repo.ts";
import type { Scope } from "../../../lib/scope.ts";
import { CombiningWriter } from "./combining-writer.ts";

const MAX_BATCH_ROWS = 50;
const MAX_BATCH_CHARS = 4 * 1024 * 1024;

type IndexWrite =
  | { kind: "put"; row: ThreadIndexRow }
  | { kind: "remove"; scope: Scope; threadId: string; version: number };

/**
 * The writer of one scope's thread index in D1. D1 takes one write at a time, so the threads of a
 * scope send their rows here, where they are combined into few batches.
 * Owns no storage and no alarm: a row that it could not write is still with its ThreadObject, which
 * sends it again.
 */
export class ThreadIndexObject extends DurableObject<Env> {
  readonly #writer = new CombiningWriter<IndexWrite>(
    (writes) => this.#send(writes),
    (newer, older) =>
      newer.kind === "put" && older.kind === "put" && newer.row.version >= older.row.version,
    { maxItems: MAX_BATCH_ROWS, maxSize: MAX_BATCH_CHARS },
  );

  /** Resolves when D1 has these rows, or newer ones. */
  async put(rows: ThreadIndexRow[]): Promise<void> {
    await Promise.all(
      rows.map((row) =>
        this.#writer.write({
          key: row.thread_id,
          item: { kind: "put", row },
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

  async #send(writes: IndexWrite[]): Promise<void> {
    const { DB } = this.env;
    await DB.batch(
      writes.map((write) =>
        write.kind === "put"
          ? upsertThread(DB, write.row)
          : deleteThread(DB, write.scope, write.threadId, write.version),
      ),
    );
  }
}
