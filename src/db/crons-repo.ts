import type { CronTick } from "../lib/cron-tick.ts";
import { metadataFilterSize, type Visibility } from "../lib/metadata-filter.ts";
import type { Scope } from "../lib/scope.ts";
import { countFound, findPage, readFound, type Scan } from "./bounded-scan.ts";
import { containsJson, filterSize, type JsonFilter, visibleTo } from "./json-filter-sql.ts";
import type { HeldRow, WorkTable } from "./leases-repo.ts";
import { crons } from "./schema.ts";
import { allOf, type Sql, sql } from "./sql.ts";

export type CronRow = typeof crons.$inferSelect;

export type CronKey = Scope & { cronId: string };

/** Crons as durable work. A row is due when a tick is, and open as long as there is a next tick. */
export const CRON_WORK: WorkTable<CronKey, typeof crons> = {
  table: crons,
  key: { workspaceId: "workspace_id", deploymentId: "deployment_id", cronId: "cron_id" },
  isOpen: "next_run_at IS NOT NULL",
  onTake: [],
};

export type CronFilter = {
  access: Visibility;
  assistant_id: string | undefined;
  thread_id: string | undefined;
  enabled: boolean | undefined;
  metadata: JsonFilter | undefined;
};

export type CronOrder = {
  by:
    | "cron_id"
    | "assistant_id"
    | "thread_id"
    | "next_run_date"
    | "end_time"
    | "created_at"
    | "updated_at";
  direction: "asc" | "desc";
};

/** SQL expressions that sort missing values after all others. */
const ORDERS: Record<CronOrder["by"], string> = {
  cron_id: "cron_id",
  assistant_id: "assistant_id",
  thread_id: "ifnull(thread_id, 'none')",
  next_run_date: `ifnull(next_run_at, ${Number.MAX_SAFE_INTEGER})`,
  end_time: `ifnull(end_time, ${Number.MAX_SAFE_INTEGER})`,
  created_at: "created_at",
  updated_at: "updated_at",
};

const IN_SCOPE = "workspace_id = ? AND deployment_id = ?";

const KEY = `${IN_SCOPE} AND cron_id = ?`;

/** Inserts a cron. Returns false when the deployment has `max` crons already. */
export async function insertCron(db: D1Database, row: CronRow, max: number): Promise<boolean> {
  const columns = Object.keys(row);
  const inserted = await db
    .prepare(
      `INSERT INTO crons (${columns.join(", ")}) SELECT ${columns.map(() => "?").join(", ")}
       WHERE (SELECT count(*) FROM crons WHERE ${IN_SCOPE}) < ?`,
    )
    .bind(...Object.values(row), row.workspace_id, row.deployment_id, max)
    .run();
  return inserted.meta.changes === 1;
}

export async function findCron(
  db: D1Database,
  key: CronKey,
  access: Visibility,
): Promise<CronRow | null> {
  const { text, params } = seenRow(key, access);
  return db
    .prepare(`SELECT * FROM crons WHERE ${text}`)
    .bind(...params)
    .first<CronRow>();
}

/**
 * Replaces `base` by `next`, and returns the row. Changes nothing and returns null when the row has changed since
 * `base` was read. If the next tick changes, the lease is cleared, so a process that is making the former tick's
 * run can no longer record it.
 */
export async function replaceCron(
  db: D1Database,
  base: CronRow,
  next: CronRow,
): Promise<CronRow | null> {
  const isRetimed = base.next_run_at !== next.next_run_at;
  return db
    .prepare(
      `UPDATE crons SET on_run_completed = ?, schedule = ?, timezone = ?, end_time = ?, enabled = ?, payload = ?,
         metadata = ?, updated_at = ?${isRetimed ? ", next_run_at = ?, due_at = ?, lease = NULL" : ""}
       WHERE ${KEY} AND updated_at = ? AND next_run_at IS ? RETURNING *`,
    )
    .bind(
      next.on_run_completed,
      next.schedule,
      next.timezone,
      next.end_time,
      next.enabled,
      next.payload,
      next.metadata,
      next.updated_at,
      ...(isRetimed ? [next.next_run_at, next.next_run_at] : []),
      base.workspace_id,
      base.deployment_id,
      base.cron_id,
      base.updated_at,
      base.next_run_at,
    )
    .first<CronRow>();
}

/** Returns false when there is no such cron. */
export async function deleteCron(
  db: D1Database,
  key: CronKey,
  access: Visibility,
): Promise<boolean> {
  const { text, params } = seenRow(key, access);
  const deleted = await db
    .prepare(`DELETE FROM crons WHERE ${text}`)
    .bind(...params)
    .run();
  return deleted.meta.changes === 1;
}

/** Deletes all crons of a deployment. */
export async function deleteCronsOf(db: D1Database, scope: Scope): Promise<void> {
  const { workspaceId, deploymentId } = scope;
  await db.prepare(`DELETE FROM crons WHERE ${IN_SCOPE}`).bind(workspaceId, deploymentId).run();
}

/** Records that a tick is done and sets the next one, or null for none. Returns false when the lease is lost. */
export async function noteTick(
  db: D1Database,
  held: HeldRow<CronKey>,
  next: number | null,
  now: number,
): Promise<boolean> {
  const noted = await db
    .prepare(
      `UPDATE crons SET next_run_at = ?, due_at = ?, lease = NULL, updated_at = ?
       WHERE ${KEY} AND lease = ?`,
    )
    .bind(next, next, now, held.workspaceId, held.deploymentId, held.cronId, held.lease)
    .run();
  return noted.meta.changes === 1;
}

/** Whether the tick needs no run any more, because it was recorded or the cron is gone. */
export async function isTickNoted(
  db: D1Database,
  { workspaceId, deploymentId }: Scope,
  { cronId, at }: CronTick,
): Promise<boolean> {
  const open = await db
    .prepare(`SELECT 1 FROM crons WHERE ${KEY} AND next_run_at = ?`)
    .bind(workspaceId, deploymentId, cronId, at)
    .first();
  return open === null;
}

/**
 * Returns a page of rows, fetched as they are consumed; null when the scan would have to look at too many rows.
 */
export async function searchCrons(
  db: D1Database,
  scope: Scope,
  query: { filter: CronFilter; order: CronOrder; limit: number; offset: number },
): Promise<{ rows: AsyncIterable<CronRow>; returned: number; total: number } | null> {
  const { filter, order, ...page } = query;
  const scan = { ...cronScan(scope, filter), orderBy: ORDERS[order.by] };
  const found = await findPage(db, scan, { direction: order.direction, ...page });
  if (found === null) return null;
  const rows = readFound<CronRow>(db, scan, found.page);
  return { rows, returned: found.page.length, total: found.total };
}

/** Returns null when the scan would have to look at too many rows. */
export async function countCrons(
  db: D1Database,
  scope: Scope,
  filter: CronFilter,
): Promise<number | null> {
  return countFound(db, cronScan(scope, filter));
}

function cronScan({ workspaceId, deploymentId }: Scope, filter: CronFilter): Scan {
  const { access, assistant_id, thread_id, enabled, metadata } = filter;
  const conditions: Sql[] = visibleTo(access);
  if (assistant_id !== undefined) conditions.push(sql("assistant_id = ?", assistant_id));
  if (thread_id !== undefined) conditions.push(sql("thread_id = ?", thread_id));
  if (enabled !== undefined) conditions.push(sql("enabled = ?", enabled ? 1 : 0));
  if (metadata !== undefined) conditions.push(containsJson("metadata", metadata));
  return {
    table: "crons",
    rows: sql(IN_SCOPE, workspaceId, deploymentId),
    key: "cron_id",
    orderBy: "NULL",
    condition: allOf(conditions),
    comparisons:
      (access === null ? 0 : metadataFilterSize(access)) + filterSize(metadata ?? {}).size,
    reads: access === null && metadata === undefined ? [] : ["metadata"],
    weighs: ["payload", "metadata", "principal"],
  };
}

function seenRow({ workspaceId, deploymentId, cronId }: CronKey, access: Visibility): Sql {
  return allOf([sql(KEY, workspaceId, deploymentId, cronId), ...visibleTo(access)]);
}
