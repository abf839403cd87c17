import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Values that only the original runs have, so that they stay rare however many copies there are. */
export type RareValues = {
  name: string;
  /** The name that copies get instead of `name`. */
  commonName: string;
  metadata: { key: string; value: string };
};

/** Position in a UUID of the digits that distinguish copies: the client leaves them 0. */
const COPY_DIGITS_AT = 15;
const COPY_DIGITS = 3;
/** Length of `YYYYMMDDTHHMMSSffffffZ`, which precedes the run id in a segment of a dotted order. */
const TIME_CHARS = 22;
const CACHE_KIB = 400_000;

/** Returns the file of a project's run shard, if all its runs are of one day. The platform must not be running. */
export function shardFileOf(stateDir: string, projectId: string): string {
  const folder = join(stateDir, "v3");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sqlite"))
    .map((name) => join(folder, name))
    .filter((file) => isShardOf(file, projectId));
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new Error(`project ${projectId} has ${files.length} shards`);
  }
  return file;
}

function isShardOf(file: string, projectId: string): boolean {
  const database = new DatabaseSync(file);
  try {
    const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'open_segments'");
    if (tables.get() === undefined) return false;
    const row = database.prepare("SELECT value FROM settings WHERE name = 'ref'").get();
    return (JSON.parse(String(row?.["value"])) as { projectId: string }).projectId === projectId;
  } finally {
    database.close();
  }
}

/**
 * Adds copies of all runs of a shard until there are `times` as many, with their own ids, threads and start times. The
 * originals have a gap of `gapMs` between two traces; the copies are spread evenly within it.
 */
export function multiplyShard(
  file: string,
  options: { times: number; gapMs: number; rare: RareValues },
): void {
  const { times, gapMs, rare } = options;
  const database = new DatabaseSync(file);
  try {
    // Durability is off: a file that is broken by a crash here is of no use anyway.
    database.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${CACHE_KIB}`,
    );
    const indexes = dropIndexes(database);
    const copyRows = copier(database, rare);
    database.exec("BEGIN");
    for (let copy = 1; copy < times; copy += 1) {
      copyRows(copy, Math.floor((copy * gapMs) / times));
    }
    database.exec("COMMIT");
    for (const index of indexes) database.exec(index);
    // The platform left the file in this mode.
    database.exec("PRAGMA journal_mode = WAL");
  } finally {
    database.close();
  }
}

/**
 * Drops the indexes, and returns the statements that recreate them: building them at the end, sorted, is several times
 * faster.
 */
function dropIndexes(database: DatabaseSync): string[] {
  const rows = database
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    .all();
  for (const { name } of rows) database.exec(`DROP INDEX "${String(name)}"`);
  return rows.map(({ sql }) => String(sql));
}

function copier(database: DatabaseSync, rare: RareValues): (copy: number, delayMs: number) => void {
  const rarePair = JSON.stringify([rare.metadata.key, rare.metadata.value]);
  database.function("copy_order", (order, copy, delayMs) =>
    copyOrder(String(order), Number(copy), Number(delayMs)),
  );
  // The number of threads grows with the traces; other attributes keep the same few values.
  database.function("copy_metadata", (list, copy) => {
    const pairs = (JSON.parse(String(list)) as [string, string][]).filter(
      (pair) => JSON.stringify(pair) !== rarePair,
    );
    return JSON.stringify(
      pairs.map(([key, value]) => [key, key === "thread_id" ? `${value}-${Number(copy)}` : value]),
    );
  });
  database.exec("CREATE TEMP TABLE originals AS SELECT * FROM runs");
  database.exec("CREATE TEMP TABLE original_traces AS SELECT * FROM traces");
  database.exec("CREATE TEMP TABLE original_payloads AS SELECT * FROM long_payloads");
  // The segments are emptied, so that the platform rebuilds them from the runs.
  database.exec("DELETE FROM segments; DELETE FROM segment_texts; DELETE FROM open_segments");
  database.exec("INSERT INTO open_segments SELECT min(start_time) FROM runs");
  const statements = [
    insertCopies(database, "runs", "originals", {
      // Copies with the same start time would otherwise have the same key.
      key: "key + ((:delay_ms * 1000) << 10) + :copy % 512",
      id: copyId("id"),
      trace_id: copyId("trace_id"),
      parent_run_id: copyId("parent_run_id"),
      dotted_order: "copy_order(dotted_order, :copy, :delay_ms)",
      name: `iif(name = :rare_name, :common_name, name)`,
      start_time: "start_time + :delay_ms * 1000",
      end_time: "end_time + :delay_ms * 1000",
      first_token_time: "first_token_time + :delay_ms * 1000",
      thread_id: "thread_id || '-' || :copy",
      metadata: "copy_metadata(metadata, :copy)",
    }),
    insertCopies(database, "long_payloads", "original_payloads", { run_id: copyId("run_id") }),
    insertCopies(database, "traces", "original_traces", {
      trace_id: copyId("trace_id"),
      first_start: "first_start + :delay_ms * 1000",
      last_start: "last_start + :delay_ms * 1000",
    }),
  ].map((text) => {
    const statement = database.prepare(text);
    statement.setAllowUnknownNamedParameters(true);
    return statement;
  });
  return (copy, delayMs) => {
    for (const statement of statements) {
      statement.run({
        // SQLite would bind a JavaScript number as a REAL.
        copy: BigInt(copy),
        delay_ms: BigInt(delayMs),
        rare_name: rare.name,
        common_name: rare.commonName,
      });
    }
  };
}

/** Inserts copies of the original rows, with other values for the given columns. */
function insertCopies(
  database: DatabaseSync,
  table: string,
  originals: string,
  values: Record<string, string>,
): string {
  const columns = database
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name));
  const selected = columns.map((column) => values[column] ?? column);
  return `INSERT INTO ${table} (${columns.join(", ")})
    SELECT ${selected.join(", ")} FROM ${originals}`;
}

function copyId(column: string): string {
  const after = COPY_DIGITS_AT + COPY_DIGITS + 1;
  return `substr(${column}, 1, ${COPY_DIGITS_AT}) || printf('%0${COPY_DIGITS}x', :copy)
    || substr(${column}, ${after})`;
}

/** Returns the copy of a dotted order: each of its segments has a new id and a new time. */
function copyOrder(order: string, copy: number, delayMs: number): string {
  const digits = copy.toString(16).padStart(COPY_DIGITS, "0");
  return order
    .split(".")
    .map((segment) => {
      const id = segment.slice(TIME_CHARS);
      const copied = id.slice(0, COPY_DIGITS_AT) + digits + id.slice(COPY_DIGITS_AT + COPY_DIGITS);
      return `${delayed(segment.slice(0, TIME_CHARS), delayMs)}${copied}`;
    })
    .join(".");
}

function delayed(time: string, delayMs: number): string {
  const at = (start: number, end: number): number => Number(time.slice(start, end));
  const date = Date.UTC(at(0, 4), at(4, 6) - 1, at(6, 8), at(9, 11), at(11, 13), at(13, 15));
  const later = new Date(date + at(15, 18) + delayMs);
  return `${later.toISOString().replaceAll(/[-:.Z]/g, "")}${time.slice(18)}`;
}
