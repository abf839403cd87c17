import { v7 as uuid } from "uuid";
import {
  insertKey,
  insertWorkspace,
  insertWorkspaceOnce,
  keyExists,
  listKeyRows,
  listWorkspaceRows,
  setRevoked,
} from "../../src/db/tools/workspaces.ts";
import type { SqlRow } from "../../src/db/tools/sql-runner.ts";
import { LOWEST_PLAN } from "../../src/lib/plan-order.ts";
import { apiKeyPrefix, generateApiKey } from "../../src/identity/api-key.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { CliError } from "../cli-error.ts";
import type { Database } from "./database.ts";
import { ensureLocalPlan, plansOf, storePlan } from "./plans.ts";

/** Creates the workspace and the key of a local platform, unless they exist. */
export async function ensureLocalWorkspace(
  database: Database,
  local: { workspaceId: string; apiKey: string },
): Promise<void> {
  if (local.workspaceId !== "") await ensureWorkspace(database, { ...local, name: "local" });
}

/**
 * Creates a workspace on the highest plan, with a key unless `apiKey` is empty. An existing workspace or key
 * is kept.
 */
export async function ensureWorkspace(
  database: Database,
  { workspaceId, apiKey, name }: { workspaceId: string; apiKey: string; name: string },
): Promise<void> {
  await insertWorkspaceOnce(database, { id: workspaceId, name, created_at: Date.now() });
  await ensureLocalPlan(database, workspaceId);
  if (apiKey === "" || (await keyExists(database, await sha256Hex(apiKey)))) return;
  await storeKey(database, workspaceId, name, apiKey);
}

export async function createWorkspace(
  database: Database,
  name: string,
  plan: string,
): Promise<SqlRow> {
  const id = uuid();
  const created_at = Date.now();
  // The plan is stored first, because a plan without a workspace does no harm.
  await storePlan(database, id, plan);
  await insertWorkspace(database, { id, name, created_at });
  return { id, name, plan, created_at };
}

/** Lists the workspaces. Their plans are null when the region that stores the plans cannot be reached. */
export async function listWorkspaces(database: Database): Promise<SqlRow[]> {
  const rows = await listWorkspaceRows(database);
  const plans = await plansOf(database);
  return rows.map(({ id, name, created_at }) => ({
    id,
    name,
    plan: plans === null ? null : (plans.get(id) ?? LOWEST_PLAN),
    created_at,
  }));
}

/** Changes the plan of a workspace of this region. */
export async function setWorkspacePlan(
  database: Database,
  id: string,
  plan: string,
): Promise<SqlRow> {
  const workspace = (await listWorkspaces(database)).find((row) => row["id"] === id);
  if (workspace === undefined) throw new CliError(`there is no workspace ${id}`);
  await storePlan(database, id, plan);
  return { ...workspace, plan };
}

/** Creates a key. Its text is returned and stored nowhere. */
export async function createKey(
  database: Database,
  options: { workspaceId: string | undefined; name: string },
): Promise<SqlRow> {
  const workspaceId = await findWorkspace(database, options.workspaceId);
  const key = generateApiKey(database.region ?? "us");
  const id = await storeKey(database, workspaceId, options.name, key);
  return { id, workspace_id: workspaceId, name: options.name, key };
}

export async function listKeys(database: Database): Promise<SqlRow[]> {
  return listKeyRows(database);
}

export async function revokeKey(database: Database, id: string): Promise<SqlRow> {
  const revoked = await setRevoked(database, id, Date.now());
  if (revoked === undefined) throw new CliError(`there is no key ${id}`);
  return revoked;
}

/**
 * Returns the given workspace, or the only one that exists. Throws a `CliError` when there is none, or no
 * single one.
 */
async function findWorkspace(database: Database, id: string | undefined): Promise<string> {
  const workspaces = await listWorkspaces(database);
  if (id !== undefined) {
    if (workspaces.some((workspace) => workspace["id"] === id)) return id;
    throw new CliError(`there is no workspace ${id}`);
  }
  const [only, ...others] = workspaces;
  if (only === undefined) throw new CliError("there is no workspace yet: create one first");
  if (others.length > 0) {
    throw new CliError(`there are ${workspaces.length} workspaces: name one with --workspace`);
  }
  return String(only["id"]);
}

async function storeKey(
  database: Database,
  workspaceId: string,
  name: string,
  key: string,
): Promise<string> {
  const id = uuid();
  await insertKey(database, {
    id,
    workspace_id: workspaceId,
    prefix: apiKeyPrefix(key),
    hash: await sha256Hex(key),
    name,
    created_at: Date.now(),
  });
  return id;
}
