import { v7 as uuidv7 } from "uuid";
import { type ApiKeyRow, insertApiKey, listApiKeys, revokeApiKey } from "../db/api-keys-repo.ts";
import { ApiError } from "../lib/api-error.ts";
import type { KeyIdentity } from "../lib/key-identity.ts";
import type { Region } from "../lib/region.ts";
import { sha256Hex } from "../lib/sha256.ts";
import { apiKeyPrefix, generateApiKey } from "./api-key.ts";

/** How many keys a workspace can have by the API. An administrator's tool makes more. */
const MAX_KEYS = 100;

/** More than the API makes: those of the tool are listed, too. */
const MAX_LISTED = 1000;

export async function findApiKeys(db: D1Database, workspaceId: string): Promise<ApiKeyRow[]> {
  return listApiKeys(db, workspaceId, MAX_LISTED);
}

/** The text of the key is in what this returns, and nowhere else. */
export async function createApiKey(
  db: D1Database,
  of: { workspaceId: string; name: string; region: Region },
): Promise<{ row: ApiKeyRow; key: string }> {
  const { workspaceId, name, region } = of;
  const key = generateApiKey(region);
  const stored = {
    id: uuidv7(),
    workspace_id: workspaceId,
    name,
    prefix: apiKeyPrefix(key),
    created_at: Date.now(),
  };
  if (!(await insertApiKey(db, { ...stored, hash: await sha256Hex(key) }, MAX_KEYS))) {
    throw new ApiError("conflict", `A workspace can have ${MAX_KEYS} API keys: revoke one first`);
  }
  return { row: { ...stored, last_used_at: null, revoked_at: null }, key };
}

/** A key that could revoke itself could leave the workspace without any: another one has to do it. */
export async function removeApiKey(
  db: D1Database,
  asking: KeyIdentity,
  id: string,
): Promise<ApiKeyRow> {
  if (id === asking.key_id) {
    throw new ApiError("conflict", "A key cannot revoke itself: revoke it with another key");
  }
  const row = await revokeApiKey(db, { workspaceId: asking.workspace_id, id, now: Date.now() });
  if (row === undefined) throw new ApiError("not_found", `API key ${id} not found`);
  return row;
}
