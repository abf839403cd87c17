import { and, eq, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { jsonValues } from "./json-values.ts";
import { runShares } from "./tracing-schema.ts";

export type RunShareRow = typeof runShares.$inferSelect;

export async function findShareByToken(
  db: D1Database,
  token: string,
): Promise<RunShareRow | undefined> {
  return drizzle(db).select().from(runShares).where(eq(runShares.token, token)).get();
}

export async function findShareOfRun(
  db: D1Database,
  workspaceId: string,
  runId: string,
): Promise<RunShareRow | undefined> {
  return drizzle(db)
    .select()
    .from(runShares)
    .where(and(eq(runShares.workspace_id, workspaceId), eq(runShares.run_id, runId)))
    .get();
}

/** Shares a run, and returns its share. A run that is shared already keeps its token. */
export async function shareRun(db: D1Database, row: RunShareRow): Promise<RunShareRow> {
  await drizzle(db).insert(runShares).values(row).onConflictDoNothing();
  const stored = await findShareOfRun(db, row.workspace_id, row.run_id);
  if (stored === undefined) throw new Error(`share token ${row.token} is taken`);
  return stored;
}

export async function unshareRun(
  db: D1Database,
  workspaceId: string,
  runId: string,
): Promise<void> {
  await drizzle(db)
    .delete(runShares)
    .where(and(eq(runShares.workspace_id, workspaceId), eq(runShares.run_id, runId)));
}

/** Returns the tokens of those runs that are shared, by run id. */
export async function findShareTokens(
  db: D1Database,
  workspaceId: string,
  runIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await drizzle(db)
    .select({ run_id: runShares.run_id, token: runShares.token })
    .from(runShares)
    .where(
      and(
        eq(runShares.workspace_id, workspaceId),
        inArray(runShares.run_id, jsonValues([...new Set(runIds)])),
      ),
    );
  return new Map(rows.map(({ run_id, token }) => [run_id, token]));
}
