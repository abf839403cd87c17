import { and, asc, eq, isNotNull, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { jsonValues } from "./json-values.ts";
import { feedback } from "./tracing-schema.ts";

export type FeedbackRow = typeof feedback.$inferSelect;

/** A row to store. When `creationGiven` is false, an existing row keeps its `created_at`. */
export type NewFeedback = Omit<FeedbackRow, "revision" | "shard_day" | "shard_bucket"> & {
  creationGiven: boolean;
};

/** A field that is undefined keeps its stored value. */
export type FeedbackRowChange = {
  [Column in "score" | "value" | "comment" | "correction" | "feedback_config"]?:
    | FeedbackRow[Column]
    | undefined;
};

/** Records that a shard has a copy of a row with this `revision`. */
export type FeedbackCopy = {
  workspaceId: string;
  id: string;
  runId: string;
  revision: number;
  traceId: string;
  sessionId: string;
  day: number;
  bucket: number;
};

const STATEMENTS_PER_BATCH = 50;
const ROWS_PER_DELETION = 1000;

/** The columns that are replaced when an id is stored again. The run cannot be changed. */
const REPLACED = [
  "key",
  "score",
  "value",
  "comment",
  "correction",
  "source_type",
  "feedback_source",
  "feedback_config",
  "feedback_group_id",
  "comparative_experiment_id",
  "error",
  "extra",
  "extend_trace_retention",
  "start_time",
  "modified_at",
  "copy_due_at",
  "copy_wanted_at",
] as const satisfies (keyof FeedbackRow)[];

/**
 * Stores rows, replacing those with the same id. Returns the stored rows in order, with undefined for an id that
 * belongs to another run's feedback.
 */
export async function upsertFeedback(
  db: D1Database,
  rows: readonly NewFeedback[],
): Promise<(FeedbackRow | undefined)[]> {
  const orm = drizzle(db);
  const statements = rows.map(({ creationGiven, ...row }) =>
    orm
      .insert(feedback)
      .values({ ...row, revision: 1 })
      .onConflictDoUpdate({
        target: [feedback.workspace_id, feedback.id],
        set: {
          ...Object.fromEntries(REPLACED.map((name) => [name, sql.raw(`excluded.${name}`)])),
          ...(creationGiven ? { created_at: sql`excluded.created_at` } : {}),
          session_id: sql`coalesce(excluded.session_id, ${feedback.session_id})`,
          trace_id: sql`coalesce(${feedback.trace_id}, excluded.trace_id)`,
          revision: sql`${feedback.revision} + 1`,
        },
        setWhere: sql`${feedback.run_id} IS excluded.run_id`,
      })
      .returning(),
  );
  const stored: (FeedbackRow | undefined)[] = [];
  for (const batch of batchesOf(statements)) {
    for (const [row] of await orm.batch(batch)) stored.push(row);
  }
  return stored;
}

export async function selectFeedback(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<FeedbackRow | undefined> {
  return drizzle(db).select().from(feedback).where(isFeedback(workspaceId, id)).get();
}

/** Changes a row, which makes its copy out of date. Returns the row; undefined when there is none. */
export async function updateFeedback(
  db: D1Database,
  workspaceId: string,
  id: string,
  change: FeedbackRowChange,
  times: { now: number; copyDueAt: number },
): Promise<FeedbackRow | undefined> {
  const ofRun = (time: number) =>
    sql`CASE WHEN ${feedback.run_id} IS NULL THEN NULL ELSE ${time} END`;
  return drizzle(db)
    .update(feedback)
    .set({
      ...change,
      modified_at: times.now,
      revision: sql`${feedback.revision} + 1`,
      copy_due_at: ofRun(times.copyDueAt),
      copy_wanted_at: ofRun(times.now),
    })
    .where(isFeedback(workspaceId, id))
    .returning()
    .get();
}

/**
 * Records copies. A row that has changed since it was copied becomes due at once. Returns the rows, with undefined
 * for rows that are gone.
 */
export async function noteCopies(
  db: D1Database,
  copies: readonly FeedbackCopy[],
  now: number,
): Promise<(FeedbackRow | undefined)[]> {
  const orm = drizzle(db);
  const statements = copies.map((copy) => {
    const isCurrent = sql`${feedback.revision} = ${copy.revision}`;
    return orm
      .update(feedback)
      .set({
        trace_id: copy.traceId,
        session_id: copy.sessionId,
        shard_day: copy.day,
        shard_bucket: copy.bucket,
        copy_due_at: sql`CASE WHEN ${isCurrent} THEN NULL ELSE ${now} END`,
        copy_wanted_at: sql`CASE WHEN ${isCurrent} THEN NULL ELSE ${feedback.copy_wanted_at} END`,
      })
      .where(and(isFeedback(copy.workspaceId, copy.id), eq(feedback.run_id, copy.runId)))
      .returning();
  });
  const noted: (FeedbackRow | undefined)[] = [];
  for (const batch of batchesOf(statements)) {
    for (const [row] of await orm.batch(batch)) noted.push(row);
  }
  return noted;
}

/** Sets when each row is tried again, or null for never, unless the row has changed since. */
export async function postponeCopies(
  db: D1Database,
  rows: readonly (Pick<FeedbackRow, "workspace_id" | "id" | "revision"> & {
    copyDueAt: number | null;
  })[],
): Promise<void> {
  const orm = drizzle(db);
  const statements = rows.map((row) =>
    orm
      .update(feedback)
      .set({ copy_due_at: row.copyDueAt })
      .where(
        and(
          isFeedback(row.workspace_id, row.id),
          eq(feedback.revision, row.revision),
          isNotNull(feedback.copy_due_at),
        ),
      ),
  );
  for (const batch of batchesOf(statements)) await orm.batch(batch);
}

/** Returns rows of all workspaces that are due for copying, longest due first. */
export async function selectDueFeedback(
  db: D1Database,
  now: number,
  limit: number,
): Promise<FeedbackRow[]> {
  return drizzle(db)
    .select()
    .from(feedback)
    .where(lte(feedback.copy_due_at, now))
    .orderBy(asc(feedback.copy_due_at))
    .limit(limit);
}

/** Returns rows of these runs without an up-to-date copy, including those that are not retried automatically. */
export async function selectUncopiedFeedback(
  db: D1Database,
  workspaceId: string,
  runIds: readonly string[],
  limit: number,
): Promise<FeedbackRow[]> {
  return drizzle(db)
    .select()
    .from(feedback)
    .where(
      and(
        eq(feedback.workspace_id, workspaceId),
        sql`${feedback.run_id} IN ${jsonValues(runIds)}`,
        or(isNotNull(feedback.copy_due_at), isNull(feedback.shard_day)),
      ),
    )
    .limit(limit);
}

/** Deletes a row in this state. Returns false when it has changed or is gone. */
export async function deleteFeedbackRow(
  db: D1Database,
  row: Pick<FeedbackRow, "workspace_id" | "id" | "revision" | "copy_due_at">,
): Promise<boolean> {
  const deleted = await drizzle(db)
    .delete(feedback)
    .where(
      and(
        isFeedback(row.workspace_id, row.id),
        eq(feedback.revision, row.revision),
        sql`${feedback.copy_due_at} IS ${row.copy_due_at}`,
      ),
    )
    .returning({ id: feedback.id });
  return deleted.length > 0;
}

export async function deleteFeedbackRows(
  db: D1Database,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await drizzle(db)
    .delete(feedback)
    .where(and(eq(feedback.workspace_id, workspaceId), sql`${feedback.id} IN ${jsonValues(ids)}`));
}

/** Deletes all feedback of a project: of its runs and of the project itself. */
export async function deleteProjectFeedback(
  db: D1Database,
  workspaceId: string,
  projectId: string,
): Promise<void> {
  for (;;) {
    const deleted = await drizzle(db)
      .delete(feedback)
      .where(
        sql`rowid IN (SELECT rowid FROM feedback WHERE workspace_id = ${workspaceId}
          AND session_id = ${projectId} LIMIT ${ROWS_PER_DELETION})`,
      )
      .returning({ id: feedback.id });
    if (deleted.length < ROWS_PER_DELETION) return;
  }
}

/** Splits statements into batches for D1. Each batch is one transaction. */
export function* batchesOf<T>(statements: readonly T[]): Generator<[T, ...T[]]> {
  for (let start = 0; start < statements.length; start += STATEMENTS_PER_BATCH) {
    const [first, ...others] = statements.slice(start, start + STATEMENTS_PER_BATCH);
    if (first !== undefined) yield [first, ...others];
  }
}

function isFeedback(workspaceId: string, id: string): SQL | undefined {
  return and(eq(feedback.workspace_id, workspaceId), eq(feedback.id, id));
}
