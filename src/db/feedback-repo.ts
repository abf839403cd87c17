import { and, asc, eq, isNotNull, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { jsonValues } from "./json-values.ts";
import { feedback } from "./tracing-schema.ts";

export type FeedbackRow = typeof feedback.$inferSelect;

/** A row to be stored; when `created_at` was not given, that of the row before it stays. */
export type NewFeedback = Omit<FeedbackRow, "revision" | "shard_day" | "shard_bucket"> & {
  creationGiven: boolean;
};

/** What is undefined stays as it is. */
export type FeedbackRowChange = {
  [Column in "score" | "value" | "comment" | "correction" | "feedback_config"]?:
    | FeedbackRow[Column]
    | undefined;
};

/** It says that a shard has a copy of a row in the state `revision`. */
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

/** What a repeat of an id replaces; the run stays that of the first. */
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
 * Stores rows, each in place of the one with its id. Returns them as they are then, in order;
 * undefined where the id is that of another run's feedback.
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

/** The changed row, whose copy is out of date; undefined when there is none. */
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
 * Notes copies. One of an earlier state than the row has now leaves the row due at once. Returns the
 * rows; undefined where there is none any more.
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

/** Sets when each row is tried again (null: never), unless it was changed meanwhile. */
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

/** Rows of all workspaces whose copying is due, the longest due first. */
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

/** Rows of these runs without an up-to-date copy, also those that are not tried again by themselves. */
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

/** Returns true when the row was there in this state, and is gone now. */
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

/** All feedback of a project, that of its runs and that of the project itself. */
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

/** Statements that go to D1 together; each batch is one transaction. */
export function* batchesOf<T>(statements: readonly T[]): Generator<[T, ...T[]]> {
  for (let start = 0; start < statements.length; start += STATEMENTS_PER_BATCH) {
    const [first, ...others] = statements.slice(start, start + STATEMENTS_PER_BATCH);
    if (first !== undefined) yield [first, ...others];
  }
}

function isFeedback(workspaceId: string, id: string): SQL | undefined {
  return and(eq(feedback.workspace_id, workspaceId), eq(feedback.id, id));
}
