import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, inject, test } from "vitest";
import {
  clientSecrets,
  openClientSecret,
  openTokens,
  sealOAuth,
  sealTokens,
  userTokens,
} from "../../src/control-plane/oauth/sealed-secrets.ts";
import { oauthSweep } from "../../src/control-plane/oauth/start-attempt.ts";
import { insertOAuthAttempt } from "../../src/db/oauth-attempts-repo.ts";
import { insertOAuthProvider, selectOAuthProviderById } from "../../src/db/oauth-providers-repo.ts";
import {
  claimOAuthRefresh,
  finishOAuthRefresh,
  type OAuthTokenRow,
  selectOAuthToken,
} from "../../src/db/oauth-tokens-repo.ts";
import { runSweep } from "../../src/work/sweep.ts";
import { migrateIndex } from "./support.ts";

const ONE = `1:${btoa("1".repeat(32)).replace("=", "")}`;
const TWO = `2:${btoa("2".repeat(32)).replace("=", "")}`;

const WORKSPACE = "3a3b3c3d-0000-4000-8000-000000000000";
const OWNER = { workspaceId: WORKSPACE, userId: "ada" };

beforeAll(() => migrateIndex(inject("migrations")));

beforeEach(async () => {
  for (const table of ["oauth_providers", "oauth_attempts", "oauth_tokens"]) {
    await env.DB.prepare(`DELETE FROM ${table}`).run();
  }
});

function envWith(keys: string): Env {
  return { ...env, ENCRYPTION_KEYS: keys };
}

/** Encrypts secrets again, and returns the number of changed rows. */
async function reseal(keys: string): Promise<number> {
  const sweep = { env: envWith(keys), rows: 100 };
  return (await clientSecrets.run(sweep)) + (await userTokens.run(sweep));
}

/** Creates a provider with a secret, and a token of it, under the first of the keys. */
async function newConnection(keys: string): Promise<OAuthTokenRow> {
  const id = crypto.randomUUID();
  const of = { kind: "client_secret", workspaceId: WORKSPACE, id } as const;
  await insertOAuthProvider(env.DB, {
    id,
    workspace_id: WORKSPACE,
    provider_id: id,
    name: "Notes",
    client_id: "c",
    client_secret: await sealOAuth(keys, "the secret", of),
    key_version: Number(keys[0]),
    auth_url: "https://notes.example/auth",
    token_url: "https://notes.example/token",
    uses_pkce: true,
    provider_type: null,
    token_endpoint_auth_method: "client_secret_post",
    mcp_server_url: null,
    resource: null,
    revocation_url: null,
    created_at: 0,
    updated_at: 0,
  });
  const tokenId = crypto.randomUUID();
  const plain = { accessToken: "access", refreshToken: "refresh" };
  const row: OAuthTokenRow = {
    id: tokenId,
    workspace_id: WORKSPACE,
    provider: id,
    user_id: "ada",
    agent_id: null,
    scopes: "[]",
    ...(await sealTokens(keys, { workspaceId: WORKSPACE, id: tokenId }, plain)),
    provider_account_label: null,
    metadata: null,
    is_default: true,
    expires_at: 0,
    refreshing_until: null,
    created_at: 0,
    updated_at: 0,
  };
  const columns = Object.entries(row).map(([name, value]) => [
    name,
    Number(value === true) || value,
  ]);
  const names = columns.map(([name]) => name).join(", ");
  await env.DB.prepare(
    `INSERT INTO oauth_tokens (${names}) VALUES (${columns.map(() => "?").join()})`,
  )
    .bind(...columns.map(([, value]) => value))
    .run();
  return row;
}

async function stored(id: string): Promise<OAuthTokenRow> {
  const found = await selectOAuthToken(env.DB, OWNER, id);
  if (found === undefined) throw new Error("The token is there");
  return found.token;
}

async function newAttempt(authId: string, expiresAt: number): Promise<void> {
  await insertOAuthAttempt(env.DB, {
    auth_id: authId,
    workspace_id: WORKSPACE,
    provider: "p",
    user_id: "ada",
    agent_id: null,
    scopes: "[]",
    is_default: true,
    redirect_uri: "https://platform.example/",
    code_verifier: null,
    status: "pending",
    token_id: null,
    error: null,
    error_description: null,
    created_at: 0,
    expires_at: expiresAt,
  });
}

test("secrets are encrypted with the first key, and the older key is no longer needed", async ({
  expect,
}) => {
  const token = await newConnection(ONE);
  await newConnection(TWO);
  expect(await reseal(`${TWO},${ONE}`)).toBe(2);
  expect(await reseal(`${TWO},${ONE}`)).toBe(0);
  const row = await stored(token.id);
  expect(row.key_version).toBe(2);
  expect(await openTokens(TWO, row)).toEqual({
    accessToken: "access",
    refreshToken: "refresh",
  });
  const provider = await selectOAuthProviderById(env.DB, WORKSPACE, token.provider);
  if (provider === undefined) throw new Error("The provider is there");
  expect(provider.key_version).toBe(2);
  expect(await openClientSecret(TWO, provider)).toBe("the secret");
});

test("a secret that no key opens does not prevent the rotation of others", async ({ expect }) => {
  const lost = await newConnection(`1:${btoa("x".repeat(32)).replace("=", "")}`);
  const other = await newConnection(ONE);
  await runSweep(envWith(`${TWO},${ONE}`), 0, [clientSecrets, userTokens]);
  expect((await stored(lost.id)).key_version).toBe(1);
  expect((await stored(other.id)).key_version).toBe(2);
});

test("a token that is being refreshed is left to the process that does it", async ({ expect }) => {
  const token = await newConnection(ONE);
  const now = Date.now();
  expect(await claimOAuthRefresh(env.DB, token, { now, until: now + 30_000 })).toBe(true);
  expect(await claimOAuthRefresh(env.DB, token, { now, until: now + 30_000 })).toBe(false);
  await reseal(`${TWO},${ONE}`);
  expect((await stored(token.id)).key_version).toBe(1);
  const fresh = { accessToken: "fresh", refreshToken: null };
  const change = {
    ...(await sealTokens(TWO, { workspaceId: WORKSPACE, id: token.id }, fresh)),
    scopes: "[]",
    metadata: null,
    expires_at: now + 1,
    updated_at: now,
  };
  expect(await finishOAuthRefresh(env.DB, token, change)).toBe(true);
  expect(await openTokens(TWO, await stored(token.id))).toEqual(fresh);
  // A process that comes too late with the same old token has no effect.
  expect(await finishOAuthRefresh(env.DB, token, change)).toBe(false);
});

test("an abandoned claim is taken over", async ({ expect }) => {
  const token = await newConnection(ONE);
  expect(await claimOAuthRefresh(env.DB, token, { now: 1000, until: 2000 })).toBe(true);
  expect(await claimOAuthRefresh(env.DB, token, { now: 2000, until: 3000 })).toBe(false);
  expect(await claimOAuthRefresh(env.DB, token, { now: 2001, until: 3001 })).toBe(true);
});

test("a text that is copied to another row cannot be opened", async ({ expect }) => {
  const [one, other] = [await newConnection(ONE), await newConnection(ONE)];
  const copied = { ...other, access_token: one.access_token };
  await expect(openTokens(ONE, copied)).rejects.toThrow("cannot be opened");
  const swapped = { ...one, refresh_token: one.access_token };
  await expect(openTokens(ONE, swapped)).rejects.toThrow("cannot be opened");
});

test("attempts are deleted when their time is over", async ({ expect }) => {
  await newAttempt("old", 999);
  await newAttempt("new", 1000);
  await runSweep(envWith(""), 1000, oauthSweep);
  const { results } = await env.DB.prepare("SELECT auth_id FROM oauth_attempts").all();
  expect(results).toEqual([{ auth_id: "new" }]);
});
