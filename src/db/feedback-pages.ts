import { and, eq, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { findFirst, findPage, type ScannedRow, type Scan, toReads } from "./bounded-scan.ts";
import type { FeedbackRow } from "./feedback-repo.ts";
import { jsonValues } from "./json-values.ts";
import { allOf, isAmong, type Sql, sql } from "./sql.ts";
import { feedback } from "./tracing-schema.ts";

/** Lists of feedback, which are bounded however much of it there is. */

/** What is undefined does not restrict; all must hold. Times in epoch milliseconds, inclusive. */
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

/** So much feedback of the runs that are named is put in order; where there is more, it is met in order. */
const MAX_SORTED = 5000;

const LONG_COLUMNS = ["comment", "value", "correction", "extra"];

/** A page, the newest first, to be read; null when too much has to be looked at. */
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
    // What a row has behind these is reached through them.
    reads: [...LONG_COLUMNS, "feedback_source"],
    orderBy: "created_at",
  };
  return (await findPage(db, ofRuns, { direction: "desc", ...page }))?.page ?? null;
}

/** What is about projects as a whole, that which came last first; null when too much has to be looked at. */
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

/** What was found, in the same order, read a part at a time as it is asked for; without what is gone. */
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

/** Returns whether there is more than can be sorted at once. */
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

/** Along an index in the order of the list. */
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
      // This is not a condition: each step would begin at it again.
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
