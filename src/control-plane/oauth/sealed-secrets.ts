import type { OAuthProviderRow } from "../../db/oauth-providers-repo.ts";
import type { OAuthTokenRow } from "../../db/oauth-tokens-repo.ts";
import { parseSettings } from "../../env.ts";
import { ApiError } from "../../lib/api-error.ts";
import { keyVersions, openSecret, SecretBoxError, sealSecret } from "../../secrets/secret-box.ts";

/** What a sealed text is of; it can be opened as nothing else. */
export type SecretOf = {
  kind: "client_secret" | "code_verifier" | "access_token" | "refresh_token";
  workspaceId: string;
  /** Of the provider, the attempt or the token. */
  id: string;
};

type SealedTokens = Pick<OAuthTokenRow, "access_token" | "refresh_token" | "key_version">;

export function sealOAuth(env: Env, plain: string, of: SecretOf): Promise<string> {
  return sealSecret(parseSettings(env).encryptionKeys, plain, contextOf(of));
}

export function openOAuth(env: Env, sealed: string, of: SecretOf): Promise<string> {
  return openSecret(parseSettings(env).encryptionKeys, sealed, contextOf(of));
}

/** The version of the key that encrypts now. */
export function sealingKey(env: Env): number {
  return keyVersions(parseSettings(env).encryptionKeys)[0];
}

export async function sealTokens(
  env: Env,
  { workspaceId, id }: { workspaceId: string; id: string },
  plain: { accessToken: string; refreshToken: string | null },
): Promise<SealedTokens> {
  const { accessToken, refreshToken } = plain;
  return {
    access_token: await sealOAuth(env, accessToken, { kind: "access_token", workspaceId, id }),
    refresh_token:
      refreshToken === null
        ? null
        : await sealOAuth(env, refreshToken, { kind: "refresh_token", workspaceId, id }),
    key_version: sealingKey(env),
  };
}

export async function openTokens(
  env: Env,
  row: OAuthTokenRow,
): Promise<{ accessToken: string; refreshToken: string | null }> {
  const { workspace_id: workspaceId, id } = row;
  return {
    accessToken: await openOAuth(env, row.access_token, { kind: "access_token", workspaceId, id }),
    refreshToken:
      row.refresh_token === null
        ? null
        : await openOAuth(env, row.refresh_token, { kind: "refresh_token", workspaceId, id }),
  };
}

/** Null: a public client. */
export async function openClientSecret(
  env: Env,
  { workspace_id: workspaceId, id, client_secret: sealed }: OAuthProviderRow,
): Promise<string | null> {
  return sealed === null
    ? null
    : openOAuth(env, sealed, { kind: "client_secret", workspaceId, id });
}

/** Answers 503 when ENCRYPTION_KEYS is not as it has to be: what is missing is the operator's to give. */
export async function withSecrets<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    throw new ApiError("unavailable", `Secrets cannot be kept or read: ${error.message}`);
  }
}

function contextOf({ kind, workspaceId, id }: SecretOf): string {
  return `oauth/${kind}/${workspaceId}/${id}`;
}
