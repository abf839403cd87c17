import type { apiKeys, WorkspaceRow } from "../schema.ts";
import type { SqlRunner } from "./sql-runner.ts";

export async function insertWorkspace(db: SqlRunner, row: WorkspaceRow): Promise<void> {
  await db.run("INSERT INTO workspaces (id, name, created_at) VALUES (?, ?, ?)", valuesOf(row));
}

/** Inserts a workspace unless it already exists. */
export async function insertWorkspaceOnce(db: SqlRunner, row: WorkspaceRow): Promise<void> {
  await db.run(
    "INSERT OR IGNORE INTO workspaces (id, name, created_at) VALUES (?, ?, ?)",
    valuesOf(row),
  );
}

/** Returns all workspaces, oldest first. */
export async function listWorkspaceRows(db: SqlRunner): Promise<WorkspaceRow[]> {
  const rows = await db.run("SELECT id, name, created_at FROM workspaces ORDER BY created_at, id");
  return rows as WorkspaceRow[];
}

function valuesOf({ id, name, created_at }: WorkspaceRow): (string | number)[] {
  return [id, name, created_at];
}

type KeyRow = typeof apiKeys.$inferSelect;
type NewKeyRow = Omit<KeyRow, "last_used_at" | "revoked_at">;
type ListedKey = Omit<KeyRow, "hash">;
type RevokedKey = Pick<KeyRow, "id" | "workspace_id" | "name" | "revoked_at">;

export async function insertKey(db: SqlRunner, row: NewKeyRow): Promise<void> {
  await db.run(
    "INSERT INTO api_keys (id, workspace_id, prefix, hash, name, created_at) VALUES (?, ?, ?, ?, ?, ?)",
    [row.id, row.workspace_id, row.prefix, row.hash, row.name, row.created_at],
  );
}

/** Whether a key exists, including revoked ones. */
export async function keyExists(db: SqlRunner, hash: string): Promise<boolean> {
  return (await db.run("SELECT id FROM api_keys WHERE hash = ?", [hash])).length > 0;
}

/** Returns all keys, oldest first. */
export async function listKeyRows(db: SqlRunner): Promise<ListedKey[]> {
  const rows = await db.run(
    "SELECT id, workspace_id, prefix, name, created_at, last_used_at, revoked_at FROM api_keys ORDER BY created_at, id",
  );
  return rows as ListedKey[];
}

/** Revokes a key. A key that was revoked before keeps its time. Returns undefined when there is no such key. */
export async function setRevoked(
  db: SqlRunner,
  id: string,
  now: number,
): Promise<RevokedKey | undefined> {
  const [row] = await db.run(
    "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ? RETURNING id, workspace_id, name, revoked_at",
    [now, id],
  );
  return row as RevokedKey | undefined;
}
