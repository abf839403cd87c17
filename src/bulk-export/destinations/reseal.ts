import {
  type ExportCredentialsRow,
  listCredentialsByKey,
  resealExportCredentials,
} from "../../db/export-destinations-repo.ts";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { keyVersions, SecretBoxError } from "../../secrets/secret-box.ts";
import { resealedCredentials } from "./credentials.ts";

const ROWS_PER_CALL = 100;

/**
 * Encrypts credentials of older keys under the first of ENCRYPTION_KEYS, some at each call; how many
 * it were. When the log has no word of failures and `export_credentials` no row of a key's version,
 * that key can be taken away.
 */
export async function resealCredentials(env: Env): Promise<number> {
  const { encryptionKeys } = parseSettings(env);
  // Without keys there is nothing to read, and nobody who says so more often than the routes do.
  if (encryptionKeys === "") return 0;
  const [current, ...older] = keyVersions(encryptionKeys);
  if (older.length === 0) return 0;
  const rows = await listCredentialsByKey(env.DB, older, ROWS_PER_CALL);
  let count = 0;
  for (const row of rows) {
    if (await reseal(env, row, current)) count += 1;
  }
  return count;
}

async function reseal(env: Env, row: ExportCredentialsRow, keyVersion: number): Promise<boolean> {
  const { encryptionKeys, logLevel } = parseSettings(env);
  const { workspace_id: workspaceId, destination_id: destinationId, version } = row;
  try {
    const key = { workspaceId, destinationId, version };
    const sealed = await resealedCredentials(encryptionKeys, row.sealed, key);
    return await resealExportCredentials(env.DB, row, { sealed, keyVersion });
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    log(logLevel, "error", {
      event: "credentials_not_resealed",
      workspace_id: workspaceId,
      destination_id: destinationId,
      error: error.message,
    });
    return false;
  }
}
