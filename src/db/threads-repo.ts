import type { Scope } from "../lib/scope.ts";
import type { MetadataFilter } from "../lib/metadata-filter.ts";
import { containsJson, type JsonFilter } from "./json-containment.ts";
import { metadataMatches } from "./metadata-filter-sql.ts";
import type { threads } from "./schema.ts";
import { allOf, type Sql, sql } from "./sql.ts";

export type ThreadIndexRow = typeof threads.$inferSelect;

export type ThreadFilter = {
  /** What whoever asks may see at all; null for anything. */
  access: MetadataFilter | null;
  ids?: string[] | undefined;
  status?: ThreadIndexRow["status"] | undefined;
  metadata?: JsonFilter | undefined;
  values?: JsonFilter | undefined;
};

export type ThreadOrder = {
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

const KEY_COLUMNS = ["workspace_id", "deployment_id", "thread_id"];

const UPSERT = `INSERT INTO threads (${COLUMNS.join(", ")})
  VALUES (${COLUMNS.map(() => "?").join(", ")})
  ON CONFLICT (${KEY_COLUMNS.join(", ")}) DO UPDATE SET
  ${COLUMNS.filter((column) => !KEY_COLUMNS.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")}
  WHERE excluded.version > threads.version`;

/** Idempotent; a row older than the stored one changes nothing. */
export function upsertThread(db: D1Database, row: ThreadIndexRow): D1PreparedStatement {
  return db.prepare(UPSERT).bind(...COLUMNS.map((column) => row[column]));
}

/** Removes the thread, unless the row is newer than `version`. */
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

/** `chars_so_far`: size of the row's JSON texts and of those before it on the page. */
export type FoundThread = Omit<
  ThreadIndexRow,
  "workspace_id" | "deployment_id" | "values_chars" | "json_chars" | "version"
> & { chars: number; chars_so_far: number };

/** One page, which ends early with the row that takes it beyond `maxChars`. */
export function searchThreads(
  db: D1Database,
  scope: Scope,
  query: {
    filter: ThreadFilter;
    order: ThreadOrder;
    limit: number;
    offset: number;
    withValues: boolean;
    maxChars: number;
  },
): D1PreparedStatement {
  const where = condition(scope, query.filter);
  const { by, direction } = query.order;
  const tieBreak = by === "thread_id" ? "" : `, thread_id ${direction}`;
  const order = `${by} ${direction}${tieBreak}`;
  const [values, chars] = query.withValues
    ? ["state_values", "json_chars"]
    : ["NULL AS state_values", "json_chars - values_chars"];
  return db
    .prepare(
      `WITH page AS (
         SELECT thread_id, status, metadata, config, ${values}, interrupts, error, omitted,
           created_at, updated_at, state_updated_at, ${chars} AS chars
         FROM threads WHERE ${where.text} ORDER BY ${order} LIMIT ? OFFSET ?
       ), sized AS (
         SELECT *, sum(chars) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS chars_so_far
         FROM page
       )
       SELECT * FROM sized WHERE chars_so_far - chars <= ? ORDER BY ${order}`,
    )
    .bind(...where.params, query.limit, query.offset, query.maxChars);
}

export function countThreads(
  db: D1Database,
  scope: Scope,
  filter: ThreadFilter,
): D1PreparedStatement {
  const where = condition(scope, filter);
  return db
    .prepare(`SELECT count(*) AS total FROM threads WHERE ${where.text}`)
    .bind(...where.params);
}

/** Ids of the threads that ran this assistant, in order, from the one after `afterId` on. */
export async function threadIdsOfAssistant(
  db: D1Database,
  scope: Scope,
  assistantId: string,
  access: MetadataFilter | null,
  page: { afterId: string; limit: number },
): Promise<string[]> {
  const where = condition(scope, { access, metadata: { assistant_id: assistantId } });
  const found = await db
    .prepare(
      `SELECT thread_id FROM threads WHERE ${where.text} AND thread_id > ?
       ORDER BY thread_id LIMIT ?`,
    )
    .bind(...where.params, page.afterId, page.limit)
    .all<{ thread_id: string }>();
  return found.results.map((row) => row.thread_id);
}

/** Some threads, whoever may see them. */
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

/** Removes the rows of these threads, whatever their version. */
export async function deleteThreadRows(
  db: D1Database,
  scope: Scope,
  threadIds: readonly string[],
): Promise<void> {
  await db
    .prepare(
      `DELETE FROM threads WHERE workspace_id = ? AND deployment_id = ?
         AND thread_id IN (SELECT value FROM json_each(?))`,
    )
    .bind(scope.workspaceId, scope.deploymentId, JSON.stringify(threadIds))
    .run();
}

function condition(scope: Scope, filter: ThreadFilter): Sql {
  const conditions = [
    sql("workspace_id = ? AND deployment_id = ?", scope.workspaceId, scope.deploymentId),
  ];
  if (filter.access !== null) conditions.push(metadataMatches("metadata", filter.access));
  if (filter.status !== undefined) conditions.push(sql("status = ?", filter.status));
  if (filter.ids !== undefined) {
    const ids = JSON.stringify(filter.ids);
    conditions.push(sql("thread_id IN (SELECT value FROM json_each(?))", ids));
  }
  if (filter.metadata !== undefined) conditions.push(containsJson("metadata", filter.metadata));
  if (filter.values !== undefined) conditions.push(containsJson("state_values", filter.values));
  return allOf(conditions);
}
