import { isAddressRange } from "../../src/lib/address-range.ts";
import { CliError } from "../cli-error.ts";
import type { Database, SqlRow } from "./database.ts";
import { listWorkspaces } from "./identity.ts";

const COLUMNS = "workspace_id, private_only, networks, created_at";

/** Enrols a workspace for private connectivity, or changes how it is enrolled. */
export async function addPrivateEndpoint(
  database: Database,
  workspaceId: string,
  options: { privateOnly: boolean; networks: string[] },
): Promise<SqlRow> {
  const workspace = (await listWorkspaces(database)).find(({ id }) => id === workspaceId);
  if (workspace === undefined) throw new CliError(`there is no workspace ${workspaceId}`);
  if (workspace["plan"] === null) {
    throw new CliError(
      "plans are kept in the US region: name the state of its platform with --billing-state",
    );
  }
  if (workspace["plan"] !== "enterprise") {
    throw new CliError(
      `private connectivity needs the plan enterprise, and ${workspaceId} has ${workspace["plan"] as string}`,
    );
  }
  const wrong = options.networks.find((network) => !isAddressRange(network));
  if (wrong !== undefined) {
    throw new CliError(`--network ${wrong} is not a range of addresses, such as 192.0.2.0/24`);
  }
  const now = Date.now();
  const rows = await database.run(
    `INSERT INTO private_endpoints (workspace_id, private_only, networks, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (workspace_id) DO UPDATE SET private_only = excluded.private_only,
       networks = excluded.networks, updated_at = excluded.updated_at
     RETURNING ${COLUMNS}`,
    [workspaceId, options.privateOnly ? 1 : 0, JSON.stringify(options.networks), now, now],
  );
  return only(rows);
}

export async function listPrivateEndpoints(database: Database): Promise<SqlRow[]> {
  const rows = await database.run(
    `SELECT ${COLUMNS} FROM private_endpoints ORDER BY created_at, workspace_id`,
  );
  return rows.map(readable);
}

export async function removePrivateEndpoint(
  database: Database,
  workspaceId: string,
): Promise<SqlRow> {
  const rows = await database.run(
    `DELETE FROM private_endpoints WHERE workspace_id = ? RETURNING ${COLUMNS}`,
    [workspaceId],
  );
  if (rows.length === 0) throw new CliError(`the workspace ${workspaceId} is not enrolled`);
  return only(rows);
}

function only(rows: SqlRow[]): SqlRow {
  const [row] = rows;
  if (row === undefined) throw new Error("the database returned no row");
  return readable(row);
}

function readable({ private_only, networks, ...row }: SqlRow): SqlRow {
  return { ...row, private_only: private_only === 1, networks: JSON.parse(String(networks)) };
}
