import { and, eq, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { findFirst, findPage, type ScannedRow, type Scan, toReads } from "./bounded-scan.ts";
import type { FeedbackRow } from "./feedback-repo.ts";
import { jsonValues } from "./json-values.ts";
import { allOf, isAmong, type Sql, sql } from "./sql.ts";
import { feedback } from "./tracing-schema.ts";

/** Lists of feedback. The work of each query is bounded, however much feedback there is. */

/**
 * A filter whose conditions must all hold. A field that is undefined adds no condition. Times are in epoch
 * milliseconds, inclusive.
 */
export type FeedbackFilter = {
  runIds?: readonly string[] | undefined;
  sessionIds?: readonly string[] | undefined;
  keys?: readonly string[] | undefined;
  sources?: readonly string[] | undefined;
  userIds?: readonly string[] | undefined;
  hasComment?: boolean | undefined;
  hasScore?: boolean | undefined;
  /** Whether the feedback is about a run, or about a project as a whole. */
  level?: "run" | "session" | undefined;
  from?: number | undefined;
  to?: number | undefined;
  comparativeExperimentId?: string | undefined;
};

/** Maximum feedback of the named runs that is sorted in memory; beyond it, an ordered index is scanned. */
const MAX_SORTED = 5000;

const LONG_COLUMNS = ["comment", "value", "correction", "extra"];

/** Finds a page of feedback, newest first; null when the scan would have to look at too many rows. */
export async function findFeedback(
  db: D1Database,
  workspaceId: string,
  filter: FeedbackFilter,
  page: { limit: number; offset: number },
): Promise<ScannedRow[] | null> {
  const scan = feedbackScan(workspaceId, filter);
  const { runIds } = filter;
  if (runIds === undefined || (await hasMoreOf(db, workspaceId, runIds))) {
    return findFirst(db, { ...scan, ...newestFirst(workspaceId, filter) }, page);
  }
  const ofRuns: Scan = {
    ...scan,
    rows: allOf([scan.rows, isAmong("run_id", runIds)]),
    along: { index: "feedback_by_run", columns: ["rowid"], direction: "asc" },
    // SQLite reads through these columns to reach the ones behind them.
    reads: [...LONG_COLUMNS, "feedback_source"],
    orderBy: "created_at",
  };
  return (await findPage(db, ofRuns, { direction: "desc", ...page }))?.page ?? null;
}

/**
 * Finds feedback on projects as a whole, latest inserted first; null when the scan would have to look at too many
 * rows.
 */
export async function findProjectFeedback(
  db: D1Database,
  workspaceId: string,
  projectIds: readonly string[],
  limit: number,
): Promise<ScannedRow[] | null> {
  const scan: Scan = {
    ...feedbackScan(workspaceId, { sessionIds: projectIds }),
    rows: sql("workspace_id = ? AND run_id IS NULL", workspaceId),
    along: { index: "feedback_by_run", columns: ["rowid"], direction: "desc" },
  };
  return findFirst(db, scan, { limit, offset: 0 });
}

/** Reads found feedback in the same order, in parts as it is consumed; skips rows deleted since. */
export async function* readFeedback(
  db: D1Database,
  workspaceId: string,
  found: readonly ScannedRow[],
): AsyncGenerator<FeedbackRow> {
  for (const part of toReads(found)) {
    const keys = part.map(({ key }) => key);
    const rows = await drizzle(db)
      .select()
      .from(feedback)
      .where(and(eq(feedback.workspace_id, workspaceId), inArray(feedback.id, jsonValues(keys))));
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { key } of part) {
      const row = byId.get(String(key));
      if (row !== undefined) yield row;
    }
  }
}

/** Whether there is more feedback than MAX_SORTED. */
async function hasMoreOf(
  db: D1Database,
  workspaceId: string,
  runIds: readonly string[],
): Promise<boolean> {
  const of = isAmong("run_id", runIds);
  const row = await db
    .prepare(
      `SELECT count(*) AS n FROM (SELECT 1 FROM feedback INDEXED BY feedback_by_run
         WHERE workspace_id = ? AND ${of.text} LIMIT ?)`,
    )
    .bind(workspaceId, ...of.params, MAX_SORTED + 1)
    .first<{ n: number }>();
  return row !== null && row.n > MAX_SORTED;
}

/** Scans along an index in the order of the list. */
function newestFirst(
  workspaceId: string,
  { sessionIds, from, to }: FeedbackFilter,
): Pick<Scan, "rows" | "along"> {
  const [only] = sessionIds ?? [];
  const ofOne = only !== undefined && sessionIds?.length === 1;
  const rows = [sql("workspace_id = ?", workspaceId)];
  if (ofOne) rows.push(sql("session_id = ?", only));
  if (from !== undefined) rows.push(sql("created_at >= ?", from));
  return {
    rows: allOf(rows),
    along: {
      index: ofOne ? "feedback_by_session" : "feedback_by_creation",
      columns: ["created_at", "rowid"],
      direction: "desc",
      // This is not a condition, because then each step would start there again.
      ...(to === undefined ? {} : { after: [to + 1, 0] }),
    },
  };
}

function feedbackScan(workspaceId: string, filter: FeedbackFilter): Scan {
  const { sources, userIds, comparativeExperimentId } = filter;
  const isLate = [sources, userIds, comparativeExperimentId].some((each) => each !== undefined);
  return {
    table: "feedback",
    rows: sql("workspace_id = ?", workspaceId),
    key: "id",
    condition: allOf(conditions(filter)),
    comparisons: 1,
    reads: isLate ? [...LONG_COLUMNS, "feedback_source"] : [],
    weighs: LONG_COLUMNS,
    orderBy: "nth",
  };
}

function conditions(filter: FeedbackFilter): Sql[] {
  const { level, from, to, comparativeExperimentId } = filter;
  return [
    isAmongGiven("run_id", filter.runIds),
    isAmongGiven("session_id", filter.sessionIds),
    isAmongGiven("feedback.key", filter.keys),
    isAmongGiven("source_type", filter.sources),
    isAmongGiven("feedback_source ->> '$.user_id'", filter.userIds),
    isGiven("comment", filter.hasComment),
    isGiven("score", filter.hasScore),
    isGiven("run_id", level === undefined ? undefined : level === "run"),
    from === undefined ? [] : [sql("created_at >= ?", from)],
    to === undefined ? [] : [sql("created_at <= ?", to)],
    comparativeExperimentId === undefined
      ? []
      : [sql("comparative_experiment_id = ?", comparativeExperimentId)],
  ].flat();
}

function isAmongGiven(operand: string, values: readonly string[] | undefined): Sql[] {
  return values === undefined ? [] : [isAmong(operand, values)];
}

function isGiven(column: string, given: boolean | undefined): Sql[] {
  return given === undefined ? [] : [sql(`${column} IS ${given ? "NOT " : ""}NULL`)];
}
