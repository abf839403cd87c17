import { v7 as uuid } from "uuid";
import { LOWEST_PLAN } from "../../src/lib/plan-order.ts";
import { apiKeyPrefix, generateApiKey } from "../../src/identity/api-key.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { CliError } from "../cli-error.ts";
import type { Database, SqlRow } from "./database.ts";
import { ensureLocalPlan, plansOf, storePlan } from "./plans.ts";

/** The workspace and the key of a platform on one's own machine; both stay as they are when they exist. */
export async function ensureLocalWorkspace(
  database: Database,
  local: { workspaceId: string; apiKey: string },
): Promise<void> {
  if (local.workspaceId === "") return;
  await database.run("INSERT OR IGNORE INTO workspaces (id, name, created_at) VALUES (?, ?, ?)", [
    local.workspaceId,
    "local",
    Date.now(),
  ]);
  await ensureLocalPlan(database, local.workspaceId);
  if (local.apiKey === "") return;
  const hash = await sha256Hex(local.apiKey);
  const [known] = await database.run("SELECT id FROM api_keys WHERE hash = ?", [hash]);
  if (known === undefined) await insertKey(database, local.workspaceId, "local", local.apiKey);
}

export async function createWorkspace(
  database: Database,
  name: string,
  plan: string,
): Promise<SqlRow> {
  const id = uuid();
  const created_at = Date.now();
  // First: a plan without a workspace does no harm.
  await storePlan(database, id, plan);
  await database.run("INSERT INTO workspaces (id, name, created_at) VALUES (?, ?, ?)", [
    id,
    name,
    created_at,
  ]);
  return { id, name, plan, created_at };
}

/** The plan of each is null where the region with the plans cannot be reached. */
export async function listWorkspaces(database: Database): Promise<SqlRow[]> {
  const rows = await database.run(
    "SELECT id, name, created_at FROM workspaces ORDER BY created_at, id",
  );
  const plans = await plansOf(database);
  return rows.map(({ id, name, created_at }) => ({
    id,
    name,
    plan: plans === null ? null : (plans.get(String(id)) ?? LOWEST_PLAN),
    created_at,
  }));
}

/** Changes what a workspace of this region has paid for. */
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

/** Makes a key; its text is in the answer and nowhere else. */
export async function createKey(
  database: Database,
  options: { workspaceId: string | undefined; name: string },
): Promise<SqlRow> {
  const workspaceId = await findWorkspace(database, options.workspaceId);
  const key = generateApiKey(database.region ?? "us");
  const id = await insertKey(database, workspaceId, options.name, key);
  return { id, workspace_id: workspaceId, name: options.name, key };
}

export async function listKeys(database: Database): Promise<SqlRow[]> {
  return database.run(
    "SELECT id, workspace_id, prefix, name, created_at, last_used_at, revoked_at FROM api_keys ORDER BY created_at, id",
  );
}

export async function revokeKey(database: Database, id: string): Promise<SqlRow> {
  const [revoked] = await database.run(
    "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ? RETURNING id, workspace_id, name, revoked_at",
    [Date.now(), id],
  );
  if (revoked === undefined) throw new CliError(`there is no key ${id}`);
  return revoked;
}

/** The workspace that is named, or the only one there is. */
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

async function insertKey(
  database: Database,
  workspaceId: string,
  name: string,
  key: string,
): Promise<string> {
  const id = uuid();
  await database.run(
    "INSERT INTO api_keys (id, workspace_id, prefix, hash, name, created_at) VALUES (?, ?, ?, ?, ?, ?)",
    [id, workspaceId, apiKeyPrefix(key), await sha256Hex(key), name, Date.now()],
  );
  return id;
}
