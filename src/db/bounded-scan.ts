import { type Sql, sql } from "./sql.ts";

/**
 * D1 answers one statement after the other, so that a long one holds up everybody else. What no index
 * can find is looked for in steps, each some milliseconds long, between which others have their turn.
 */

const ROWS_PER_STEP = 1000;
/** Of the JSON that is looked at, times the number of conditions. */
const BYTES_PER_STEP = 1024 * 1024;
/** What looking at a row costs besides its JSON. */
const BYTES_OF_A_ROW = 64;
/** Of one scan: some seconds of the database's time. */
const MAX_STEPS = 2000;
/** After a step it rests for half as long as the step took, and no longer than this. */
const MAX_REST_MS = 20;
/** Of the rows that are read whole at once. */
const BYTES_PER_READ = 1024 * 1024;

export type Scan = {
  table: "threads" | "assistants" | "assistant_versions";
  /** Which rows belong to the scan, by a prefix of an index that ends with `key`. */
  rows: Sql;
  /** The column that the scan goes along: unique among the rows, and never changed. */
  key: string;
  /** Where the scan begins: behind this key, which no row has. */
  start: string | number;
  condition: Sql;
  /** How many comparisons the condition makes, at least 1. */
  comparisons: number;
  /** Columns that the condition reads. */
  reads: readonly string[];
  /** Columns that a page of the rows holds, for how large it becomes. */
  weighs: readonly string[];
  /** The column by which rows are to be ordered. */
  orderBy: string;
  /** Before it gives up. */
  maxSteps?: number;
};

/** A row that fulfils the condition. `bytes` is about what it takes to read it whole. */
export type Found = { order: string | number; key: string | number; bytes: number };

type StepRow = { last: string | number | null; is_end: number; found: string };

/**
 * The rows that fulfil the condition, step by step in the order of their keys. Returns true at the end
 * of the rows, and false when it gives up because there are too many to be looked at.
 */
export async function* scanRows(db: D1Database, scan: Scan): AsyncGenerator<Found[], boolean> {
  const { maxSteps = MAX_STEPS } = scan;
  let after = scan.start;
  for (let step = 0; step < maxSteps; step += 1) {
    const startedAt = Date.now();
    const row = await stepOf(db, scan, after).first<StepRow>();
    if (row === null || row.last === null) return true;
    const found = JSON.parse(row.found) as [Found["order"], Found["key"], number][];
    yield found.map(([order, key, bytes]) => ({ order, key, bytes }));
    if (row.is_end === 1) return true;
    after = row.last;
    // A local workerd looks at its sockets and files only when nothing else is left to be done.
    const restMs = Math.min(Math.max((Date.now() - startedAt) / 2, 1), MAX_REST_MS);
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  return false;
}

/** The next rows as far as a step goes: at least one, however large. */
function stepOf(db: D1Database, scan: Scan, after: string | number): D1PreparedStatement {
  const { table, key, rows, condition } = scan;
  const perRow = Math.max(scan.comparisons, 1);
  const sizeOf = (columns: readonly string[]): string =>
    columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(" + ") || "0";
  const mostRows = Math.ceil(ROWS_PER_STEP / Math.sqrt(perRow));
  const { text, params } = sql(
    `WITH ahead AS MATERIALIZED (
       SELECT rowid AS at, ${key} AS "key", ${BYTES_OF_A_ROW} + ${sizeOf(scan.reads)} AS bytes
       FROM ${table} WHERE ${rows.text} AND ${key} > ? ORDER BY ${key} LIMIT ?
     ), summed AS (
       SELECT at, "key", bytes, sum(bytes) OVER (ORDER BY "key") AS bytes_so_far FROM ahead
     ), step AS MATERIALIZED (
       SELECT at, "key" FROM summed WHERE bytes_so_far - bytes < ?
     )
     SELECT (SELECT max("key") FROM step) AS last, 
       (SELECT count(*) FROM step) = (SELECT count(*) FROM ahead)
         AND (SELECT count(*) FROM ahead) < ? AS is_end,
       (SELECT json_group_array(json_array(${scan.orderBy}, ${key}, ${sizeOf(scan.weighs)}))
        FROM step CROSS JOIN ${table} ON ${table}.rowid = step.at
        WHERE ${condition.text}) AS found`,
    ...rows.params,
    after,
    mostRows,
    Math.ceil(BYTES_PER_STEP / perRow),
    mostRows,
    ...condition.params,
  );
  return db.prepare(text).bind(...params);
}

/** The rows of a page that was found in order, and of how many it is a page. */
export type FoundPage = { page: Found[]; total: number };

/** Null when the scan gave up. Ties are put in the order of the keys. */
export async function findPage(
  db: D1Database,
  scan: Scan,
  { direction, limit, offset }: { direction: "asc" | "desc"; limit: number; offset: number },
): Promise<FoundPage | null> {
  const end = offset + limit;
  let first: Found[] = [];
  let total = 0;
  const steps = scanRows(db, scan);
  for (;;) {
    const step = await steps.next();
    if (step.done === true) {
      if (!step.value) return null;
      return { page: inOrder(first, direction).slice(offset, end), total };
    }
    total += step.value.length;
    first.push(...step.value);
    if (first.length > 2 * end + ROWS_PER_STEP) first = inOrder(first, direction).slice(0, end);
  }
}

/** How many rows fulfil the condition; null when the scan gave up. */
export async function countFound(db: D1Database, scan: Scan): Promise<number | null> {
  let total = 0;
  const steps = scanRows(db, scan);
  for (;;) {
    const step = await steps.next();
    if (step.done === true) return step.value ? total : null;
    total += step.value.length;
  }
}

/** Parts of a page that may each be read at once. */
export function toReads<Row extends { bytes: number }>(page: readonly Row[]): Row[][] {
  const reads: Row[][] = [];
  let bytes = 0;
  for (const found of page) {
    const last = reads.at(-1);
    if (last === undefined || bytes + found.bytes > BYTES_PER_READ) {
      reads.push([found]);
      bytes = found.bytes;
    } else {
      last.push(found);
      bytes += found.bytes;
    }
  }
  return reads;
}

function inOrder(found: readonly Found[], direction: "asc" | "desc"): Found[] {
  const sign = direction === "asc" ? 1 : -1;
  return found.toSorted(
    (left, right) => sign * (compare(left.order, right.order) || compare(left.key, right.key)),
  );
}

/** As SQLite does: numbers by their value, texts by their UTF-8. */
function compare(left: string | number, right: string | number): number {
  if (typeof left === "number" || typeof right === "number") return Number(left) - Number(right);
  for (let at = 0; at < left.length && at < right.length; at += 1) {
    const [one, other] = [left.codePointAt(at) ?? 0, right.codePointAt(at) ?? 0];
    if (one !== other) return one - other;
  }
  return left.length - right.length;
}
