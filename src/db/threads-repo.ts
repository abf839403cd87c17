import type { Scope } from "../lib/scope.ts";
import { type MetadataFilter, metadataFilterSize } from "../lib/metadata-filter.ts";
import {
  countFound,
  findFirst,
  findPage,
  type ScannedRow,
  type FoundPage,
  type Scan,
  type ScanOrder,
  scanRows,
} from "./bounded-scan.ts";
import { containsJson, filterSize, type JsonFilter, metadataMatches } from "./json-filter-sql.ts";
import type { threads } from "./schema.ts";
import { allOf, isAmong, type Sql, sql } from "./sql.ts";

export type ThreadIndexRow = typeof threads.$inferSelect;

export type ThreadFilter = {
  /** The threads that the caller may see; null for all of them. */
  access: MetadataFilter | null;
  ids?: string[] | undefined;
  status?: ThreadIndexRow["status"] | undefined;
  metadata?: JsonFilter | undefined;
  values?: JsonFilter | undefined;
};

type ThreadOrder = {
  by: "thread_id" | "status" | "created_at" | "updated_at" | "state_updated_at";
  direction: "asc" | "desc";
};

const COLUMNS = [
  "workspace_id",
  "deployment_id",
  "thread_id",
  "status",
  "metadata",
  "config",
  "state_values",
  "interrupts",
  "error",
  "omitted",
  "values_chars",
  "json_chars",
  "created_at",
  "updated_at",
  "state_updated_at",
  "version",
] as const satisfies (keyof ThreadIndexRow)[];

const REST_COLUMNS = ["metadata", "config", "interrupts", "error"];

const JSON_COLUMNS = [...REST_COLUMNS, "state_values"];

/** Rows that are counted by one statement, which takes some ten milliseconds along an index. */
const COUNTED_AT_ONCE = 30_000;

const KEY_COLUMNS = ["workspace_id", "deployment_id", "thread_id"];

/** Columns that never change. Leaving them out of an update saves one index entry. */
const FIXED_COLUMNS = new Set([...KEY_COLUMNS, "created_at"]);

const UPSERT = `INSERT INTO threads (${COLUMNS.join(", ")})
  VALUES (${COLUMNS.map(() => "?").join(", ")})
  ON CONFLICT (${KEY_COLUMNS.join(", ")}) DO UPDATE SET
  ${COLUMNS.filter((column) => !FIXED_COLUMNS.has(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")}
  WHERE excluded.version > threads.version`;

/** Stores a thread's row. This is idempotent: a row older than the stored one changes nothing. */
export function upsertThread(db: D1Database, row: ThreadIndexRow): D1PreparedStatement {
  return db.prepare(UPSERT).bind(...COLUMNS.map((column) => row[column]));
}

/** Removes the thread, unless its row is newer than `version`. */
export function deleteThread(
  db: D1Database,
  scope: Scope,
  threadId: string,
  version: number,
): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM threads
       WHERE workspace_id = ? AND deployment_id = ? AND thread_id = ? AND version <= ?`,
    )
    .bind(scope.workspaceId, scope.deploymentId, threadId, version);
}

export type FoundThread = Omit<
  ThreadIndexRow,
  "workspace_id" | "deployment_id" | "values_chars" | "json_chars" | "version"
> & {
  /** Size of the row's requested JSON texts, including those that were omitted. */
  chars: number;
};

type ThreadPageQuery = {
  filter: ThreadFilter;
  order: ThreadOrder;
  limit: number;
  offset: number;
  withValues: boolean;
};

/** Finds the threads of a page, and their total number; null when the scan would have to look at too many rows. */
export async function findThreads(
  db: D1Database,
  scope: Scope,
  query: ThreadPageQuery,
): Promise<FoundPage | null> {
  const { filter, order, withValues, ...page } = query;
  if (isIndexed(filter, order)) return indexedPage(db, scope, query);
  const weighs = withValues ? JSON_COLUMNS : REST_COLUMNS;
  const scan = { ...threadScan(scope, filter), orderBy: order.by, weighs };
  return findPage(db, scan, { direction: order.direction, ...page });
}

/** Returns the number of matching threads; null when the scan would have to look at too many rows. */
export async function countThreads(
  db: D1Database,
  scope: Scope,
  filter: ThreadFilter,
): Promise<number | null> {
  return isIndexed(filter, null)
    ? countIndexed(db, scope, filter.status)
    : countFound(db, threadScan(scope, filter));
}

/** Returns the rows of these threads, in no particular order. */
export async function readThreads(
  db: D1Database,
  scope: Scope,
  ids: readonly string[],
  { withValues }: { withValues: boolean },
): Promise<FoundThread[]> {
  const [values, chars] = withValues
    ? ["state_values", "json_chars"]
    : ["NULL AS state_values", "json_chars - values_chars"];
  const { results } = await db
    .prepare(
      `SELECT thread_id, status, metadata, config, ${values}, interrupts, error, omitted,
         created_at, updated_at, state_updated_at, ${chars} AS chars
       FROM threads WHERE workspace_id = ? AND deployment_id = ?
         AND thread_id IN (SELECT value FROM json_each(?))`,
    )
    .bind(scope.workspaceId, scope.deploymentId, JSON.stringify(ids))
    .all<FoundThread>();
  return results;
}

/** Yields the ids of all threads in which this assistant ran, step by step, without a limit on the number. */
export async function* threadIdsOfAssistant(
  db: D1Database,
  scope: Scope,
  assistantId: string,
  access: MetadataFilter | null,
): AsyncGenerator<string[]> {
  const filter = { access, metadata: { assistant_id: assistantId } };
  const scan = { ...threadScan(scope, filter), maxSteps: Infinity };
  for await (const found of scanRows(db, scan)) {
    yield found.map(({ key }) => String(key));
  }
}

/**
 * Returns the threads in which this assistant ran last and that changed after `since` or are busy, latest change
 * first, ordered by `order` and then by `key`. Null when the scan would have to look at too many rows.
 */
export async function newestThreadsOfAssistant(
  db: D1Database,
  scope: Scope,
  assistantId: string,
  page: {
    access: MetadataFilter | null;
    /** Epoch milliseconds, inclusive. */
    since: number;
    after: { order: number; key: string } | null;
    limit: number;
  },
): Promise<ScannedRow[] | null> {
  const { access, since, after, limit } = page;
  const scan = threadScan(scope, { access, metadata: { assistant_id: assistantId } });
  const along: ScanOrder = {
    index: "threads_by_update",
    columns: ["updated_at", "thread_id"],
    direction: "desc",
    ...(after === null ? {} : { after: [after.order, after.key] }),
  };
  // A run that begins after another one does not change its thread's row until it ends.
  const changed = sql("(updated_at >= ? OR status = 'busy')", since);
  const condition = allOf([changed, scan.condition]);
  return findFirst(db, { ...scan, condition, along, orderBy: "updated_at" }, { limit, offset: 0 });
}

/** Returns the ids of some threads, regardless of who may see them. */
export async function listThreadIds(
  db: D1Database,
  scope: Scope,
  limit: number,
): Promise<string[]> {
  const found = await db
    .prepare("SELECT thread_id FROM threads WHERE workspace_id = ? AND deployment_id = ? LIMIT ?")
    .bind(scope.workspaceId, scope.deploymentId, limit)
    .all<{ thread_id: string }>();
  return found.results.map((row) => row.thread_id);
}

/** Whether the query only looks at threads on the page or before it. */
function isIndexed(filter: ThreadFilter, order: ThreadOrder | null): boolean {
  const { access, ids, status, metadata, values } = filter;
  if (access !== null || ids !== undefined || metadata !== undefined || values !== undefined) {
    return false;
  }
  if (order === null || order.by === "updated_at") return true;
  return status === undefined && (order.by === "created_at" || order.by === "thread_id");
}

async function indexedPage(
  db: D1Database,
  scope: Scope,
  query: ThreadPageQuery,
): Promise<FoundPage> {
  const { by, direction } = query.order;
  const { status } = query.filter;
  const where = allOf([inScope(scope), ...ofStatus(status)]);
  const weighs = query.withValues ? JSON_COLUMNS : REST_COLUMNS;
  const bytes = weighs.map((column) => `ifnull(octet_length(${column}), 0)`).join(" + ");
  const [page, total] = await Promise.all([
    db
      .prepare(
        `SELECT ${by} AS "order", thread_id AS "key", ${bytes} AS bytes FROM threads
         WHERE ${where.text} ORDER BY ${by} ${direction}, thread_id ${direction} LIMIT ? OFFSET ?`,
      )
      .bind(...where.params, query.limit, query.offset)
      .all<ScannedRow>(),
    countIndexed(db, scope, status),
  ]);
  return { page: page.results, total };
}

/** Counts along an index in parts, so that no statement takes long. */
async function countIndexed(
  db: D1Database,
  scope: Scope,
  status: ThreadIndexRow["status"] | undefined,
): Promise<number> {
  const keys = status === undefined ? ["thread_id"] : ["updated_at", "thread_id"];
  const columns = keys.join(", ");
  let after: (string | number)[] = [];
  let total = 0;
  for (;;) {
    const places = keys.map(() => "?").join(", ");
    const where = allOf([
      inScope(scope),
      ...ofStatus(status),
      ...(after.length === 0 ? [] : [sql(`(${columns}) > (${places})`, ...after)]),
    ]);
    const part = await db
      .prepare(
        `WITH part AS MATERIALIZED (
           SELECT ${columns} FROM threads WHERE ${where.text} ORDER BY ${columns} LIMIT ?
         )
         SELECT (SELECT count(*) FROM part) AS rows, json_array(${columns}) AS last
         FROM part ORDER BY ${keys.map((key) => `${key} DESC`).join(", ")} LIMIT 1`,
      )
      .bind(...where.params, COUNTED_AT_ONCE)
      .first<{ rows: number; last: string }>();
    total += part?.rows ?? 0;
    if (part === null || part.rows < COUNTED_AT_ONCE) return total;
    after = JSON.parse(part.last);
  }
}

function threadScan(scope: Scope, filter: ThreadFilter): Scan {
  const { access, ids, status, metadata, values } = filter;
  const rows = [inScope(scope)];
  if (ids !== undefined) rows.push(isAmong("thread_id", ids));
  const conditions = ofStatus(status);
  if (access !== null) conditions.push(metadataMatches("metadata", access));
  if (metadata !== undefined) conditions.push(containsJson("metadata", metadata));
  if (values !== undefined) conditions.push(containsJson("state_values", values));
  const readsMetadata = access !== null || metadata !== undefined;
  return {
    table: "threads",
    rows: allOf(rows),
    key: "thread_id",
    condition: allOf(conditions),
    comparisons:
      (access === null ? 0 : metadataFilterSize(access)) +
      filterSize(metadata ?? {}).size +
      filterSize(values ?? {}).size,
    reads: [
      ...(readsMetadata ? ["metadata"] : []),
      ...(values === undefined ? [] : ["state_values"]),
    ],
    weighs: [],
    orderBy: "NULL",
  };
}

function inScope({ workspaceId, deploymentId }: Scope): Sql {
  return sql("workspace_id = ? AND deployment_id = ?", workspaceId, deploymentId);
}

function ofStatus(status: ThreadIndexRow["status"] | undefined): Sql[] {
  return status === undefined ? [] : [sql("status = ?", status)];
}
