import { type Sql, sql } from "./sql.ts";

/**
 * D1 executes one statement at a time, so a long one blocks all others. Searches that no index supports are
 * therefore made in steps of some milliseconds, and other statements can run between the steps.
 */

const ROWS_PER_STEP = 1000;
/** Bytes of JSON that one step examines, times the number of conditions. */
const BYTES_PER_STEP = 1024 * 1024;
/** The cost of examining a row besides its JSON, in bytes. */
const BYTES_OF_A_ROW = 64;
/** Maximum steps of a scan, which take some seconds of the database's time. */
const MAX_STEPS = 2000;
/** After each step a scan pauses for half the step's duration, up to this maximum. */
const MAX_REST_MS = 20;
/** Bytes of whole rows that are read at once. */
const BYTES_PER_READ = 1024 * 1024;

export type Scan = {
  table:
    | "threads"
    | "assistants"
    | "assistant_versions"
    | "crons"
    | "projects"
    | "deployments"
    | "feedback"
    | "feedback_configs";
  /** Selects the rows of the scan by a prefix of an index that ends with the columns of `along`. */
  rows: Sql;
  /** The column that identifies a row: unique among the rows, and never changed. */
  key: string;
  /** The order of the scan. By default, rows are scanned by ascending key. */
  along?: ScanOrder;
  condition: Sql;
  /** The number of comparisons that the condition makes, at least 1. */
  comparisons: number;
  /** The columns that the condition reads. */
  reads: readonly string[];
  /** The columns that a page of the rows contains, which determine its size. */
  weighs: readonly string[];
  /** The column to order the found rows by; `nth` stands for the order of the scan. */
  orderBy: string;
  /** Maximum steps before the scan gives up. */
  maxSteps?: number;
};

type Place = (string | number)[];

/** The last columns of an index, which together are unique among the rows. */
export type ScanOrder = {
  index: string;
  columns: readonly string[];
  direction: "asc" | "desc";
  /** The scan begins after this place; by default, at the start of the index in its direction. */
  after?: Place;
};

/** A row that meets the condition. `bytes` is its approximate size when it is read whole. */
export type ScannedRow = { order: string | number; key: string | number; bytes: number };

type StepRow = { last: string | null; is_end: number; found: string };

/**
 * Yields the rows that meet the condition, step by step in the order of the scan. Returns true at the end of the
 * rows, and false when it gives up because there are too many to examine.
 */
export async function* scanRows(db: D1Database, scan: Scan): AsyncGenerator<ScannedRow[], boolean> {
  const { maxSteps = MAX_STEPS } = scan;
  let after: Place | null = scan.along?.after ?? null;
  for (let step = 0; step < maxSteps; step += 1) {
    const startedAt = Date.now();
    const row: StepRow | null = await stepOf(db, scan, after).first<StepRow>();
    if (row === null || row.last === null) return true;
    const found = JSON.parse(row.found) as [
      ScannedRow["order"],
      ScannedRow["key"],
      number,
      number,
    ][];
    yield found
      .toSorted((left, right) => left[3] - right[3])
      .map(([order, key, bytes]) => ({ order, key, bytes }));
    if (row.is_end === 1) return true;
    after = JSON.parse(row.last) as Place;
    // A local workerd serves its sockets and files only when it has nothing else to do.
    const restMs = Math.min(Math.max((Date.now() - startedAt) / 2, 1), MAX_REST_MS);
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  return false;
}

/** Selects the next rows that fit in one step: at least one, however large. */
function stepOf(db: D1Database, scan: Scan, after: Place | null): D1PreparedStatement {
  const { table, key, rows, condition, along } = scan;
  const { columns, direction } = along ?? { columns: [key], direction: "asc" };
  const [beyond, order, back] = direction === "asc" ? [">", "ASC", "DESC"] : ["<", "DESC", "ASC"];
  const names = columns.map((_, at) => `k${at}`);
  const inOrder = (of: readonly string[], way: string): string =>
    of.map((name) => `${name} ${way}`).join(", ");
  const place = sql(
    after === null
      ? "1"
      : `(${columns.join(", ")}) ${beyond} (${columns.map(() => "?").join(", ")})`,
    ...(after ?? []),
  );
  const perRow = Math.max(scan.comparisons, 1);
  const mostRows = Math.ceil(ROWS_PER_STEP / Math.sqrt(perRow));
  const { text, params } = sql(
    `WITH ahead AS MATERIALIZED (
       SELECT rowid AS at, ${columns.map((column, at) => `${column} AS k${at}`).join(", ")},
         ${BYTES_OF_A_ROW} + ${sizeOf(scan.reads)} AS bytes
       FROM ${table} ${along === undefined ? "" : `INDEXED BY ${along.index}`}
       WHERE ${rows.text} AND ${place.text} ORDER BY ${inOrder(columns, order)} LIMIT ?
     ), summed AS (
       SELECT at, ${names.join(", ")}, bytes, row_number() OVER before AS nth,
         sum(bytes) OVER before AS bytes_so_far
       FROM ahead WINDOW before AS (ORDER BY ${inOrder(names, order)} ROWS UNBOUNDED PRECEDING)
     ), step AS MATERIALIZED (
       SELECT at, ${names.join(", ")}, nth FROM summed WHERE bytes_so_far - bytes < ?
     )
     SELECT
       (SELECT json_array(${names.join(", ")}) FROM step ORDER BY ${inOrder(names, back)} LIMIT 1) AS last,
       (SELECT count(*) FROM step) = (SELECT count(*) FROM ahead)
         AND (SELECT count(*) FROM ahead) < ? AS is_end,
       (SELECT json_group_array(json_array(${scan.orderBy}, ${key}, ${sizeOf(scan.weighs)}, nth))
        FROM step CROSS JOIN ${table} ON ${table}.rowid = step.at
        WHERE ${condition.text}) AS found`,
    ...rows.params,
    ...place.params,
    mostRows,
    Math.ceil(BYTES_PER_STEP / perRow),
    mostRows,
    ...condition.params,
  );
  return db.prepare(text).bind(...params);
}

function sizeOf(columns: readonly string[]): string {
  return columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(" + ") || "0";
}

/** A page of found rows in order, and the total number of found rows. */
export type FoundPage = { page: ScannedRow[]; total: number };

/** Finds a page in the order of `orderBy`; ties are ordered by key. Returns null when the scan gave up. */
export async function findPage(
  db: D1Database,
  scan: Scan,
  { direction, limit, offset }: { direction: "asc" | "desc"; limit: number; offset: number },
): Promise<FoundPage | null> {
  const end = offset + limit;
  let first: ScannedRow[] = [];
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

/** Finds a page in the order of the scan, with no more steps than needed. Returns null when the scan gave up. */
export async function findFirst(
  db: D1Database,
  scan: Scan,
  { limit, offset }: { limit: number; offset: number },
): Promise<ScannedRow[] | null> {
  // A row that changes its place during the scan may be found again.
  const page = new Map<ScannedRow["key"], ScannedRow>();
  let passed = 0;
  const steps = scanRows(db, scan);
  for (;;) {
    const step = await steps.next();
    if (step.done === true) return step.value ? [...page.values()] : null;
    for (const found of step.value) {
      passed += 1;
      if (passed > offset) page.set(found.key, found);
      if (page.size === limit) return [...page.values()];
    }
  }
}

/** Returns the number of rows that meet the condition; null when the scan gave up. */
export async function countFound(db: D1Database, scan: Scan): Promise<number | null> {
  let total = 0;
  const steps = scanRows(db, scan);
  for (;;) {
    const step = await steps.next();
    if (step.done === true) return step.value ? total : null;
    total += step.value.length;
  }
}

/** Splits a page into parts that are each small enough to be read at once. */
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

function inOrder(found: readonly ScannedRow[], direction: "asc" | "desc"): ScannedRow[] {
  const sign = direction === "asc" ? 1 : -1;
  return found.toSorted(
    (left, right) => sign * (compare(left.order, right.order) || compare(left.key, right.key)),
  );
}

/** Compares as SQLite does: numbers by value, texts by their UTF-8. */
function compare(left: string | number, right: string | number): number {
  if (typeof left === "number" || typeof right === "number") return Number(left) - Number(right);
  for (let at = 0; at < left.length && at < right.length; at += 1) {
    const [one, other] = [left.codePointAt(at) ?? 0, right.codePointAt(at) ?? 0];
    if (one !== other) return one - other;
  }
  return left.length - right.length;
}

/** Reads the rows of a page in its order, except rows that have been deleted since. */
export async function* readFound<Row>(
  db: D1Database,
  { table, key, rows }: Scan,
  page: readonly ScannedRow[],
): AsyncGenerator<Row> {
  for (const part of toReads(page)) {
    const { results } = await db
      .prepare(
        `SELECT ${key} AS scanned_key, * FROM ${table}
         WHERE ${rows.text} AND ${key} IN (SELECT value FROM json_each(?))`,
      )
      .bind(...rows.params, JSON.stringify(part.map((found) => found.key)))
      .all<Row & { scanned_key: string | number }>();
    const byKey = new Map(results.map(({ scanned_key, ...row }) => [scanned_key, row as Row]));
    for (const found of part) {
      const row = byKey.get(found.key);
      if (row !== undefined) yield row;
    }
  }
}
