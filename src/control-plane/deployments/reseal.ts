import { listRevisionsByKey, resealRevision } from "../../db/revisions-repo.ts";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { keyVersions, SecretBoxError } from "../../secrets/secret-box.ts";
import { resealSecrets } from "./sealed-secrets.ts";

/** Each may have many secrets. */
const ROWS_PER_CALL = 20;

/**
 * Encrypts secrets of older keys under the first of ENCRYPTION_KEYS, some revisions at each call; how
 * many it were. When no revision has a secret of a key's version, that key can be taken away.
 */
export async function resealDeployments(env: Env): Promise<number> {
  const { encryptionKeys, logLevel } = parseSettings(env);
  if (encryptionKeys === "") return 0;
  const [, ...older] = keyVersions(encryptionKeys);
  if (older.length === 0) return 0;
  let count = 0;
  for (const row of await listRevisionsByKey(env.DB, older, ROWS_PER_CALL)) {
    const { workspace_id: workspaceId, deployment_id: deploymentId } = row;
    try {
      const sealed = await resealSecrets(env, { workspaceId, deploymentId }, row.secrets);
      if (await resealRevision(env.DB, row, sealed)) count += 1;
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      log(logLevel, "error", {
        event: "deployment_secrets_not_resealed",
        workspace_id: workspaceId,
        deployment_id: deploymentId,
        revision_id: row.id,
        error: error.message,
      });
    }
  }
  return count;
}
