import type { workspaces } from "../schema.ts";
import type { SqlRunner } from "./sql-runner.ts";

export type WorkspaceRow = typeof workspaces.$inferSelect;

export async function insertWorkspace(db: SqlRunner, row: WorkspaceRow): Promise<void> {
  await db.run("INSERT INTO workspaces (id, name, created_at) VALUES (?, ?, ?)", valuesOf(row));
}

/** A workspace that exists stays as it is. */
export async function insertWorkspaceOnce(db: SqlRunner, row: WorkspaceRow): Promise<void> {
  await db.run(
    "INSERT OR IGNORE INTO workspaces (id, name, created_at) VALUES (?, ?, ?)",
    valuesOf(row),
  );
}

/** The oldest comes first. */
export async function listWorkspaceRows(db: SqlRunner): Promise<WorkspaceRow[]> {
  const rows = await db.run("SELECT id, name, created_at FROM workspaces ORDER BY created_at, id");
  return rows as WorkspaceRow[];
}

function valuesOf({ id, name, created_at }: WorkspaceRow): (string | number)[] {
  return [id, name, created_at];
}
