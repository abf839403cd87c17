import type { SqlRow, SqlRunner } from "./sql-runner.ts";

const COLUMNS = "workspace_id, private_only, networks, created_at";

export async function upsertPrivateEndpoint(
  db: SqlRunner,
  endpoint: { workspaceId: string; privateOnly: boolean; networks: string[]; now: number },
): Promise<SqlRow> {
  const { workspaceId, privateOnly, networks, now } = endpoint;
  const [row] = await db.run(
    `INSERT INTO private_endpoints (workspace_id, private_only, networks, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (workspace_id) DO UPDATE SET private_only = excluded.private_only,
       networks = excluded.networks, updated_at = excluded.updated_at
     RETURNING ${COLUMNS}`,
    [workspaceId, privateOnly ? 1 : 0, JSON.stringify(networks), now, now],
  );
  if (row === undefined) throw new Error("the database returned no row");
  return readable(row);
}

/** Returns all rows, oldest first. */
export async function listPrivateEndpointRows(db: SqlRunner): Promise<SqlRow[]> {
  const rows = await db.run(
    `SELECT ${COLUMNS} FROM private_endpoints ORDER BY created_at, workspace_id`,
  );
  return rows.map(readable);
}

/** Returns the deleted row, or undefined when there was none. */
export async function deletePrivateEndpoint(
  db: SqlRunner,
  workspaceId: string,
): Promise<SqlRow | undefined> {
  const [row] = await db.run(
    `DELETE FROM private_endpoints WHERE workspace_id = ? RETURNING ${COLUMNS}`,
    [workspaceId],
  );
  return row === undefined ? undefined : readable(row);
}

/** Converts SQLite's representations of booleans and lists. */
function readable({ private_only, networks, ...row }: SqlRow): SqlRow {
  return { ...row, private_only: private_only === 1, networks: JSON.parse(String(networks)) };
}
