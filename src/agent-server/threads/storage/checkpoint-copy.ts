import { parseMetadata } from "./checkpoint-pages.ts";
import type { ThreadTables } from "./thread-tables.ts";

type Row = Record<string, SqlStorageValue>;

/** The rows of a thread's checkpoints, by table. */
export type CheckpointCopy = Record<CopiedTable, Row[]>;

type CopiedTable = keyof typeof COLUMNS;

/** The copied columns of each table. The run that wrote a row is not among them, because runs are not copied. */
const COLUMNS = {
  checkpoints: [
    "ns",
    "id",
    "parent_id",
    "checkpoint_type",
    "checkpoint",
    "metadata_type",
    "metadata",
    "channels",
    "format",
    "packed",
  ],
  channel_values: ["ns", "checkpoint_id", "channel", "part", "type", "data"],
  writes: [
    "ns",
    "checkpoint_id",
    "task_id",
    "idx",
    "part",
    "task_path",
    "channel",
    "type",
    "data",
    "count",
  ],
} as const;

const TABLES = ["checkpoints", "channel_values", "writes"] as const;

/** Maximum bytes of a copy: it crosses RPC twice as a single message, for which the platform's limit is 32 MiB. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Maximum rows of a copy: each row is also a statement of the turn that writes the copy. */
const MAX_ROWS = 20_000;

/** Reads all checkpoints as of this turn; returns null if they are too large for one message. */
export function readCheckpoints(sql: SqlStorage, tables: ThreadTables): CheckpointCopy | null {
  let rows = 0;
  let bytes = 0;
  for (const table of TABLES) {
    if (!isThere(table, tables)) continue;
    const lengths = COLUMNS[table].map((column) => `ifnull(octet_length(${column}), 0)`);
    const size = sql
      .exec<{ rows: number; bytes: number }>(
        `SELECT count(*) AS rows, ifnull(sum(${lengths.join(" + ")}), 0) AS bytes FROM ${table}`,
      )
      .one();
    rows += size.rows;
    bytes += size.bytes;
  }
  if (rows > MAX_ROWS || bytes > MAX_BYTES) return null;
  const read = (table: CopiedTable): Row[] =>
    isThere(table, tables)
      ? sql.exec<Row>(`SELECT ${COLUMNS[table].join(", ")} FROM ${table}`).toArray()
      : [];
  return {
    checkpoints: read("checkpoints"),
    channel_values: read("channel_values"),
    writes: read("writes"),
  };
}

function isThere(table: CopiedTable, tables: ThreadTables): boolean {
  return table !== "channel_values" || tables.has(table);
}

/** Writes the checkpoints to a thread that has none. Must be called in a transaction. */
export function writeCheckpoints(
  sql: SqlStorage,
  tables: ThreadTables,
  copy: CheckpointCopy,
  threadId: string,
): void {
  if (copy.channel_values.length > 0) tables.need("channel_values");
  for (const table of TABLES) {
    const columns = COLUMNS[table];
    const insert = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    for (const row of copy[table]) {
      const values = columns.map((column) => row[column] ?? null);
      if (table !== "checkpoints") sql.exec(insert, ...values);
      else sql.exec(insert, ...columns.map((column) => ofThread(row, column, threadId)));
    }
  }
}

/** Returns a column's value for the new thread: a checkpoint's metadata contains the id of its thread. */
function ofThread(row: Row, column: string, threadId: string): SqlStorageValue | Uint8Array {
  const value = row[column] ?? null;
  if (column !== "metadata" || !(value instanceof ArrayBuffer)) return value;
  const metadata = metadataOf(value);
  if (metadata?.["thread_id"] === undefined) return value;
  return new TextEncoder().encode(JSON.stringify({ ...metadata, thread_id: threadId }));
}

/** Returns null if deployed code stored metadata that is not JSON. */
function metadataOf(bytes: ArrayBuffer): Record<string, unknown> | null {
  try {
    return parseMetadata(bytes);
  } catch {
    return null;
  }
}
