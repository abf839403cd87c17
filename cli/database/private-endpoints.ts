import {
  deletePrivateEndpoint,
  listPrivateEndpointRows,
  upsertPrivateEndpoint,
} from "../../src/db/tools/private-endpoints.ts";
import type { SqlRow } from "../../src/db/tools/sql-runner.ts";
import { isAddressRange } from "../../src/lib/address-range.ts";
import { CliError } from "../cli-error.ts";
import type { Database } from "./database.ts";
import { listWorkspaces } from "./identity.ts";

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
  return upsertPrivateEndpoint(database, { workspaceId, ...options, now: Date.now() });
}

export async function listPrivateEndpoints(database: Database): Promise<SqlRow[]> {
  return listPrivateEndpointRows(database);
}

export async function removePrivateEndpoint(
  database: Database,
  workspaceId: string,
): Promise<SqlRow> {
  const removed = await deletePrivateEndpoint(database, workspaceId);
  if (removed === undefined) throw new CliError(`the workspace ${workspaceId} is not enrolled`);
  return removed;
}
