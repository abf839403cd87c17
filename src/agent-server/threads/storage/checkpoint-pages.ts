import type {
  CheckpointPage,
  CheckpointQuery,
  StoredCheckpoint,
} from "../../../graph-runtime/checkpoint-port.ts";
import { ReadBudget } from "../../read-budget.ts";

export type CheckpointRow = {
  ns: string;
  id: string;
  parent_id: string | null;
  checkpoint_type: string;
  checkpoint: ArrayBuffer;
  metadata_type: string;
  metadata: ArrayBuffer;
  channels: string;
  format: number;
  packed: ArrayBuffer | null;
};

export const CHECKPOINT_COLUMNS =
  "ns, id, parent_id, checkpoint_type, checkpoint, metadata_type, metadata, channels, format, packed";

export const DEFAULT_CHECKPOINT_PAGE = 50;

/**
 * Maximum of a page, which crosses RPC as a single message. It can only be exceeded by the page's first
 * checkpoint.
 */
const TURN = { rows: 1000, bytes: 8 * 1024 * 1024 };

/** Maximum number of namespaces, because each costs a look-up for every page over all of them. */
const MAX_NAMESPACES = 10_000;

type Load = (row: CheckpointRow, options: { apart: boolean }) => StoredCheckpoint;

/** A page, and the rows and bytes that were read for it. */
export type ReadPage = CheckpointPage & { rows: number; bytes: number };

/**
 * Reads pages of a thread's checkpoints, the newest first. Each namespace is a range of the table's key, in the
 * order of the page, so that a page costs the same in a long thread as in a short one.
 */
export class CheckpointPages {
  readonly #sql: SqlStorage;
  readonly #load: Load;

  constructor(sql: SqlStorage, load: Load) {
    this.#sql = sql;
    this.#load = load;
  }

  /** Reads a page. Throws if the query is over all namespaces and there are more than MAX_NAMESPACES. */
  read(query: CheckpointQuery): ReadPage {
    const { limit = DEFAULT_CHECKPOINT_PAGE, apart = false } = query;
    const wanted = Object.entries(query.filter ?? {}).map(
      ([key, value]) => [key, JSON.stringify(value)] as const,
    );
    const budget = new ReadBudget(TURN);
    const checkpoints: StoredCheckpoint[] = [];
    let next: string | null = null;
    for (const row of this.#newestFirst(query)) {
      const page = { checkpoints, next, rows: budget.rows, bytes: budget.bytes };
      if (checkpoints.length >= limit || budget.isSpent) return page;
      budget.count(1, row.checkpoint.byteLength + row.metadata.byteLength);
      if (matches(row, wanted)) {
        const stored = this.#load(row, { apart });
        const bytes = valueBytes(stored);
        if (checkpoints.length > 0 && !budget.hasRoomFor(bytes)) return page;
        budget.count(stored.channels.length + stored.writes.length, bytes);
        checkpoints.push(stored);
      }
      next = row.id;
    }
    return { checkpoints, next: null, rows: budget.rows, bytes: budget.bytes };
  }

  /** Yields the namespaces. Each takes one look-up, however many checkpoints it has. */
  *namespaces(): Generator<string> {
    let after: string | null = null;
    for (;;) {
      const query: SqlStorageCursor<{ ns: string | null }> =
        after === null
          ? this.#sql.exec("SELECT min(ns) AS ns FROM checkpoints")
          : this.#sql.exec("SELECT min(ns) AS ns FROM checkpoints WHERE ns > ?", after);
      after = query.one().ns;
      if (after === null) return;
      yield after;
    }
  }

  #newestFirst({ ns, id, before }: CheckpointQuery): Iterable<CheckpointRow> {
    if (id !== undefined) return this.#atId(ns, id, before);
    return ns === undefined ? this.#merged(before) : this.#ofNamespace(ns, before);
  }

  /** Reads rows on demand. */
  #ofNamespace(ns: string, before: string | undefined): Iterable<CheckpointRow> {
    return before === undefined
      ? this.#sql.exec<CheckpointRow>(
          `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE ns = ? ORDER BY id DESC`,
          ns,
        )
      : this.#sql.exec<CheckpointRow>(
          `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE ns = ? AND id < ? ORDER BY id DESC`,
          ns,
          before,
        );
  }

  *#atId(ns: string | undefined, id: string, before: string | undefined): Generator<CheckpointRow> {
    if (before !== undefined && id >= before) return;
    for (const name of ns === undefined ? this.#boundedNamespaces() : [ns]) {
      yield* this.#sql.exec<CheckpointRow>(
        `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE ns = ? AND id = ?`,
        name,
        id,
      );
    }
  }

  *#merged(before: string | undefined): Generator<CheckpointRow> {
    const heads = new Map<string, string>();
    const advance = (ns: string, end: string | undefined): void => {
      const [row] = this.#idBefore(ns, end);
      if (row === undefined) heads.delete(ns);
      else heads.set(ns, row.id);
    };
    for (const ns of this.#boundedNamespaces()) advance(ns, before);
    while (heads.size > 0) {
      let newest: readonly [ns: string, id: string] = ["", ""];
      for (const head of heads) if (head[1] > newest[1]) newest = head;
      const [ns, id] = newest;
      yield* this.#atId(ns, id, undefined);
      advance(ns, id);
    }
  }

  #idBefore(ns: string, end: string | undefined): { id: string }[] {
    const cursor =
      end === undefined
        ? this.#sql.exec<{ id: string }>(
            "SELECT id FROM checkpoints WHERE ns = ? ORDER BY id DESC LIMIT 1",
            ns,
          )
        : this.#sql.exec<{ id: string }>(
            "SELECT id FROM checkpoints WHERE ns = ? AND id < ? ORDER BY id DESC LIMIT 1",
            ns,
            end,
          );
    return cursor.toArray();
  }

  *#boundedNamespaces(): Generator<string> {
    let count = 0;
    for (const ns of this.namespaces()) {
      count += 1;
      if (count > MAX_NAMESPACES) {
        throw new Error(
          `The thread has more than ${MAX_NAMESPACES} checkpoint namespaces: list one of them, with "checkpoint_ns"`,
        );
      }
      yield ns;
    }
  }
}

/** Whether each key of the metadata has the value whose JSON text is given. */
function matches(row: CheckpointRow, wanted: (readonly [string, string | undefined])[]): boolean {
  if (wanted.length === 0) return true;
  const metadata = parseMetadata(row.metadata);
  return wanted.every(([key, json]) => JSON.stringify(metadata[key]) === json);
}

/** Parses metadata, which is always an object, so the serde has always stored it as JSON text (its type "json"). */
export function parseMetadata(bytes: ArrayBuffer): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Returns the size of a checkpoint's values and pending writes in bytes. */
export function valueBytes({ channels, writes, parent_writes = [] }: StoredCheckpoint): number {
  const ofChannels = channels.reduce((sum, [, [, data]]) => sum + data.byteLength, 0);
  return ofChannels + writeBytes(writes) + writeBytes(parent_writes);
}

export function writeBytes(writes: StoredCheckpoint["writes"]): number {
  return writes.reduce((sum, [, , [, data]]) => sum + data.byteLength, 0);
}
