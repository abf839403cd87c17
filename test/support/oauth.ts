import type { Answer } from "./http.ts";
import { send } from "./http.ts";
import { CLIENT, type OAuthServer, startOAuthServer } from "./oauth-server.ts";
import { consent } from "./oauth-user.ts";
import { testWithServer, type TestServer } from "./server.ts";
import { makeWorkspace } from "./workspaces.ts";

const ENCRYPTION_KEYS = `1:${"k".repeat(43)}`;

/** Names of providers whose callbacks the OAuth server allows. */
const PROVIDERS = ["notes", "notes-basic", "notes-public"];

type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** A workspace; the paths of its calls are below `/v2/auth`. */
export type Tenant = { id: string; call: Call };

export type Authenticated = {
  status: string;
  url: string;
  auth_id: string;
  token: string;
  user_id: string;
  metadata: unknown;
};

/** The contents of a callback's redirect. */
export type Redirect = { status: number; page: string; query: Record<string, string> };

/** Returns a `test` whose file shares a platform and an OAuth server, and whose tests each have a new workspace. */
export function testWithOAuth(vars: Record<string, string> = {}) {
  return testWithServer({ ENCRYPTION_KEYS, EXPORT_PRIVATE_ENDPOINTS: "allow", ...vars })
    .extend("oauth", { scope: "file" }, async ({ server }, { onCleanup }) => {
      const callbacks = PROVIDERS.map((name) => `${server.url}/v2/auth/callback/${name}`);
      const oauth = await startOAuthServer(callbacks);
      onCleanup(() => oauth.close());
      return oauth;
    })
    .extend("tenant", async ({ server }): Promise<Tenant> => newTenant(server));
}

export async function newTenant(server: TestServer): Promise<Tenant & { apiKey: string }> {
  const { id, apiKey } = await makeWorkspace(server, "oauth");
  return {
    id,
    apiKey,
    call: (method, path, body, headers = {}) =>
      send(server, method, `/v2/auth${path}`, body, { "x-api-key": apiKey, ...headers }),
  };
}

export function providerBody(
  oauth: Pick<OAuthServer, "authUrl" | "tokenUrl">,
  change: object = {},
): Record<string, unknown> {
  return {
    provider_id: "notes",
    name: "Notes",
    ...CLIENT,
    auth_url: oauth.authUrl,
    token_url: oauth.tokenUrl,
    uses_pkce: true,
    ...change,
  };
}

export async function createProvider(
  { call }: Tenant,
  oauth: Pick<OAuthServer, "authUrl" | "tokenUrl">,
  change: object = {},
): Promise<void> {
  const { status, body } = await call("POST", "/providers", providerBody(oauth, change));
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
}

export async function authenticate({ call }: Tenant, change: object = {}): Promise<Authenticated> {
  const given = { provider: "notes", scopes: ["openid", "notes:read"], user_id: "ada", ...change };
  const { status, body } = await call("POST", "/authenticate", given);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body as Authenticated;
}

/** Requests a callback as a browser does, but does not follow its redirect. */
export async function follow(url: string): Promise<Redirect> {
  const response = await fetch(url, { redirect: "manual" });
  const target = new URL(response.headers.get("location") ?? "missing:");
  return {
    status: response.status,
    page: target.origin + target.pathname,
    query: Object.fromEntries(target.searchParams),
  };
}

export async function wait({ call }: Tenant, authId: string, timeout = 0): Promise<unknown> {
  return (await call("GET", `/wait/${authId}?timeout=${timeout}`)).body;
}

/** Connects the service as a person with this login would, and returns the token. */
export async function connect(tenant: Tenant, login: string, change: object = {}): Promise<string> {
  const { url, auth_id: authId } = await authenticate(tenant, change);
  const { query } = await follow(await consent(url, login));
  if (query["status"] !== "completed") throw new Error(JSON.stringify(query));
  return String(((await wait(tenant, authId)) as { token: unknown }).token);
}

export type TokenSummary = { id: string; is_default: boolean; scopes: string[] };

/** Returns the tokens of the tests' default user, or of another one. */
export async function tokensOf({ call }: Tenant, user = "ada"): Promise<TokenSummary[]> {
  const { status, body } = await call("GET", "/tokens", undefined, { "x-user-id": user });
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body as TokenSummary[];
}

/** Makes the tokens expire, as after some hours. */
export async function expireTokens(server: TestServer, { id }: Tenant): Promise<void> {
  await server.database.run("UPDATE oauth_tokens SET expires_at = 0 WHERE workspace_id = ?", [id]);
}
