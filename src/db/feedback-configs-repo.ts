import { and, asc, eq, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { findFirst, type Scan } from "./bounded-scan.ts";
import { jsonValues } from "./json-values.ts";
import { allOf, isAmong, sql as plain } from "./sql.ts";
import { feedbackConfigs } from "./tracing-schema.ts";

export type FeedbackConfigRow = typeof feedbackConfigs.$inferSelect;

/** A field that is undefined keeps its stored value. The config is JSON text. */
export type FeedbackConfigChange = {
  feedback_config?: string | undefined;
  is_lower_score_better?: boolean | undefined;
};

/** Inserts a config. Returns the row, or undefined when the key already has one. */
export async function insertFeedbackConfig(
  db: D1Database,
  row: FeedbackConfigRow,
): Promise<FeedbackConfigRow | undefined> {
  return drizzle(db).insert(feedbackConfigs).values(row).onConflictDoNothing().returning().get();
}

/** Returns the configs of those keys that have one. */
export async function selectFeedbackConfigs(
  db: D1Database,
  workspaceId: string,
  keys: readonly string[],
): Promise<FeedbackConfigRow[]> {
  return drizzle(db)
    .select()
    .from(feedbackConfigs)
    .where(and(eq(feedbackConfigs.workspace_id, workspaceId), hasKeyAmong(keys)));
}

/**
 * Returns a page of configs in the order of their keys; null when the scan would have to look at too many rows.
 */
export async function listFeedbackConfigs(
  db: D1Database,
  workspaceId: string,
  filter: { keys: readonly string[] | undefined; nameContains: string | undefined },
  page: { limit: number; offset: number },
): Promise<FeedbackConfigRow[] | null> {
  const { keys, nameContains } = filter;
  const rows = [plain("workspace_id = ?", workspaceId)];
  if (keys !== undefined) rows.push(isAmong("feedback_key", keys));
  const scan: Scan = {
    table: "feedback_configs",
    rows: allOf(rows),
    key: "feedback_key",
    // LIKE would need escapes, and D1 limits its patterns to 50 bytes.
    condition:
      nameContains === undefined
        ? allOf([])
        : plain("instr(lower(feedback_key), lower(?)) > 0", nameContains),
    comparisons: 1,
    reads: [],
    weighs: [],
    orderBy: "nth",
  };
  const found = await findFirst(db, scan, page);
  if (found === null) return null;
  return drizzle(db)
    .select()
    .from(feedbackConfigs)
    .where(
      and(
        eq(feedbackConfigs.workspace_id, workspaceId),
        hasKeyAmong(found.map(({ key }) => String(key))),
      ),
    )
    .orderBy(asc(feedbackConfigs.feedback_key));
}

export async function updateFeedbackConfig(
  db: D1Database,
  workspaceId: string,
  key: string,
  change: FeedbackConfigChange,
  now: number,
): Promise<FeedbackConfigRow | undefined> {
  return drizzle(db)
    .update(feedbackConfigs)
    .set({ ...change, modified_at: now })
    .where(isOfKey(workspaceId, key))
    .returning()
    .get();
}

/** Returns true when there was a config. */
export async function deleteFeedbackConfig(
  db: D1Database,
  workspaceId: string,
  key: string,
): Promise<boolean> {
  const deleted = await drizzle(db)
    .delete(feedbackConfigs)
    .where(isOfKey(workspaceId, key))
    .returning({ key: feedbackConfigs.feedback_key });
  return deleted.length > 0;
}

function isOfKey(workspaceId: string, key: string) {
  return and(eq(feedbackConfigs.workspace_id, workspaceId), eq(feedbackConfigs.feedback_key, key));
}

function hasKeyAmong(keys: readonly string[]) {
  return inArray(feedbackConfigs.feedback_key, jsonValues(keys));
}
