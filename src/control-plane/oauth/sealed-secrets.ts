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
import { keyRotation } from "../../secrets/key-rotation.ts";
import {
  keyVersions,
  openSecret,
  resealSecret,
  sealSecret,
  withSecretBox,
} from "../../secrets/secret-box.ts";

/** Identifies the owner of a sealed text. The text can be opened only with the same values. */
export type SecretOf = {
  kind: "client_secret" | "code_verifier" | "access_token" | "refresh_token";
  workspaceId: string;
  /** The id of the provider, the attempt or the token. */
  id: string;
};

type SealedTokens = Pick<OAuthTokenRow, "access_token" | "refresh_token" | "key_version">;

export function sealOAuth(keys: string, plain: string, of: SecretOf): Promise<string> {
  return sealSecret(keys, plain, contextOf(of));
}

export function openOAuth(keys: string, sealed: string, of: SecretOf): Promise<string> {
  return openSecret(keys, sealed, contextOf(of));
}

export async function sealTokens(
  keys: string,
  { workspaceId, id }: { workspaceId: string; id: string },
  plain: { accessToken: string; refreshToken: string | null },
): Promise<SealedTokens> {
  const { accessToken, refreshToken } = plain;
  return {
    access_token: await sealOAuth(keys, accessToken, { kind: "access_token", workspaceId, id }),
    refresh_token:
      refreshToken === null
        ? null
        : await sealOAuth(keys, refreshToken, { kind: "refresh_token", workspaceId, id }),
    key_version: keyVersions(keys)[0],
  };
}

export async function openTokens(
  keys: string,
  row: OAuthTokenRow,
): Promise<{ accessToken: string; refreshToken: string | null }> {
  const { workspace_id: workspaceId, id } = row;
  return {
    accessToken: await openOAuth(keys, row.access_token, { kind: "access_token", workspaceId, id }),
    refreshToken:
      row.refresh_token === null
        ? null
        : await openOAuth(keys, row.refresh_token, { kind: "refresh_token", workspaceId, id }),
  };
}

/** Returns null for a public client. */
export async function openClientSecret(
  keys: string,
  { workspace_id: workspaceId, id, client_secret: sealed }: OAuthProviderRow,
): Promise<string | null> {
  return sealed === null
    ? null
    : openOAuth(keys, sealed, { kind: "client_secret", workspaceId, id });
}

/** Throws a 503 when ENCRYPTION_KEYS is missing or invalid. */
export function withSecrets<T>(work: () => Promise<T> | T): Promise<T> {
  return withSecretBox("Secrets cannot be kept or read", work);
}

/** Registers the secrets of providers' clients for the rotation of ENCRYPTION_KEYS. */
export const clientSecrets = keyRotation({
  kind: "oauth_provider",
  rows: 100,
  list: listOAuthProvidersByKey,
  reseal: async (db, keys, row) => {
    const { workspace_id: workspaceId, id, client_secret: sealed } = row;
    if (sealed === null) return false;
    const context = contextOf({ kind: "client_secret", workspaceId, id });
    const client_secret = await resealSecret(keys, sealed, context);
    return resealOAuthProvider(db, row, { client_secret, key_version: keyVersions(keys)[0] });
  },
  idsOf,
});

/**
 * Registers the tokens of users for the rotation of ENCRYPTION_KEYS. Attempts to connect a service are not
 * resealed: they need their original key until they end.
 */
export const userTokens = keyRotation({
  kind: "oauth_token",
  rows: 100,
  list: listOAuthTokensByKey,
  reseal: async (db, keys, row) => {
    const { workspace_id: workspaceId, id } = row;
    const sealed = await sealTokens(keys, { workspaceId, id }, await openTokens(keys, row));
    return resealOAuthToken(db, row, { ...sealed, now: Date.now() });
  },
  idsOf,
});

function idsOf({ workspace_id, id }: { workspace_id: string; id: string }) {
  return { workspace_id, id };
}

function contextOf({ kind, workspaceId, id }: SecretOf): string {
  return `oauth/${kind}/${workspaceId}/${id}`;
}
