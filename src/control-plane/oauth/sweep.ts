import { deleteExpiredOAuthAttempts } from "../../db/oauth-attempts-repo.ts";
import {
  listOAuthProvidersByKey,
  type OAuthProviderRow,
  resealOAuthProvider,
} from "../../db/oauth-providers-repo.ts";
import {
  listOAuthTokensByKey,
  type OAuthTokenRow,
  resealOAuthToken,
} from "../../db/oauth-tokens-repo.ts";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { keyVersions, SecretBoxError } from "../../secrets/secret-box.ts";
import {
  openClientSecret,
  openTokens,
  sealingKey,
  sealOAuth,
  sealTokens,
} from "./sealed-secrets.ts";

const ROWS_PER_CALL = 100;

/** Once a minute: forgets attempts whose time is over, and follows a change of ENCRYPTION_KEYS. */
export async function sweepOAuth(env: Env, now: number): Promise<void> {
  for (const task of [() => deleteExpiredOAuthAttempts(env.DB, now), () => resealOAuth(env)]) {
    try {
      await task();
    } catch (error) {
      // The other is not to wait for it.
      const fields = { event: "oauth_sweep_failed", error: String(error) };
      log(parseSettings(env).logLevel, "error", fields);
    }
  }
}

/**
 * Encrypts secrets of older keys under the first of ENCRYPTION_KEYS, some at each call; how many rows
 * it were. When `oauth_providers` and `oauth_tokens` have no row of a key's version, and no attempt of
 * its time is under way, that key can be taken away.
 */
export async function resealOAuth(env: Env): Promise<number> {
  const { encryptionKeys } = parseSettings(env);
  if (encryptionKeys === "") return 0;
  const [, ...older] = keyVersions(encryptionKeys);
  if (older.length === 0) return 0;
  let count = 0;
  for (const row of await listOAuthProvidersByKey(env.DB, older, ROWS_PER_CALL)) {
    if (await resealed(env, row, () => resealProvider(env, row))) count += 1;
  }
  for (const row of await listOAuthTokensByKey(env.DB, older, ROWS_PER_CALL)) {
    if (await resealed(env, row, () => resealTokens(env, row))) count += 1;
  }
  return count;
}

async function resealProvider(env: Env, row: OAuthProviderRow): Promise<boolean> {
  const secret = await openClientSecret(env, row);
  if (secret === null) return false;
  const { workspace_id: workspaceId, id } = row;
  return resealOAuthProvider(env.DB, row, {
    client_secret: await sealOAuth(env, secret, { kind: "client_secret", workspaceId, id }),
    key_version: sealingKey(env),
  });
}

async function resealTokens(env: Env, row: OAuthTokenRow): Promise<boolean> {
  const { workspace_id: workspaceId, id } = row;
  const sealed = await sealTokens(env, { workspaceId, id }, await openTokens(env, row));
  return resealOAuthToken(env.DB, row, { ...sealed, now: Date.now() });
}

async function resealed(
  env: Env,
  row: { workspace_id: string; id: string },
  reseal: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await reseal();
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    log(parseSettings(env).logLevel, "error", {
      event: "oauth_secret_not_resealed",
      workspace_id: row.workspace_id,
      id: row.id,
      error: error.message,
    });
    return false;
  }
}
