import { describe } from "vitest";
import {
  authenticate,
  createProvider,
  expireTokens,
  follow,
  type Tenant,
  testWithOAuth,
  tokensOf,
} from "../support/oauth.ts";
import type { TestServer } from "../support/server.ts";
import { startTokenEndpoint, type TokenEndpoint } from "../support/token-endpoint.ts";

const MINUTE_MS = 60_000;

const test = testWithOAuth().extend("endpoint", async ({ vars }, { onCleanup }) => {
  void vars;
  const endpoint = await startTokenEndpoint();
  onCleanup(() => endpoint.close());
  return endpoint;
});

type Of = { server: TestServer; tenant: Tenant; endpoint: TokenEndpoint };

/** Connects a provider of a type with this answer, and returns the authorisation request to the user. */
async function connect(
  { server, tenant, endpoint }: Of,
  type: string,
  scopes: string[],
  body: object,
) {
  await createProvider(tenant, endpoint, { provider_type: type });
  const { url, auth_id } = await authenticate(tenant, { scopes });
  endpoint.answer = { body };
  const { query } = await follow(`${server.url}/v2/auth/callback/notes?code=c&state=${auth_id}`);
  if (query["status"] !== "completed") throw new Error(JSON.stringify(query));
  return Object.fromEntries(new URL(url).searchParams);
}

async function deleteTokens(tenant: Tenant): Promise<void> {
  const as = { "x-user-id": "ada" };
  await tenant.call("DELETE", "/tokens?provider_id=notes", undefined, as);
}

describe("Slack", () => {
  test("gives a token of the user", async ({ server, tenant, endpoint, expect }) => {
    const scopes = ["chat:write", "users:read"];
    const asked = await connect({ server, tenant, endpoint }, "slack", scopes, {
      ok: true,
      team: { id: "T1", name: "Acme" },
      authed_user: {
        id: "U1",
        scope: "chat:write,users:read",
        access_token: "xoxp-1",
        token_type: "user",
        refresh_token: "xoxe-1",
        expires_in: 43_200,
      },
    });
    expect([asked["user_scope"], asked["scope"]]).toEqual(["chat:write,users:read", undefined]);
    expect(await authenticate(tenant, { scopes })).toMatchObject({
      status: "completed",
      token: "xoxp-1",
      metadata: { team_id: "T1", team_name: "Acme", user_id: "U1" },
    });
    expect(await tokensOf(tenant)).toMatchObject([{ provider_account_label: "Acme", scopes }]);

    await expireTokens(server, tenant);
    endpoint.answer = {
      body: { ok: true, access_token: "xoxp-2", token_type: "user", refresh_token: "xoxe-2" },
    };
    expect((await authenticate(tenant, { scopes })).token).toBe("xoxp-2");
    expect(endpoint.requests.at(-1)?.form["refresh_token"]).toBe("xoxe-1");

    await deleteTokens(tenant);
    expect(endpoint.requests.at(-1)).toMatchObject({
      path: "/auth.revoke",
      headers: { authorization: "Bearer xoxp-2" },
    });
    expect(await tokensOf(tenant)).toEqual([]);
  });

  test("refuses with status 200", async ({ server, tenant, endpoint, expect }) => {
    const answer = { ok: false, error: "invalid_code" };
    await expect(connect({ server, tenant, endpoint }, "slack", ["a"], answer)).rejects.toThrow(
      "invalid_code",
    );
  });
});

describe("Salesforce", () => {
  test("gives a token without a lifetime, and the user's server", async ({
    server,
    tenant,
    endpoint,
    expect,
  }) => {
    const instance_url = "https://acme.my.salesforce.com";
    const body = { access_token: "00D", token_type: "Bearer", scope: "api", instance_url };
    const before = Date.now();
    await connect({ server, tenant, endpoint }, "salesforce", ["api"], {
      ...body,
      refresh_token: "5Aep",
    });
    const [token] = (await tokensOf(tenant)) as { expires_at?: string }[];
    const madeAt = Date.parse(token?.expires_at ?? "") - 15 * MINUTE_MS;
    expect(madeAt).toBeGreaterThanOrEqual(before);
    expect(madeAt).toBeLessThanOrEqual(Date.now());
    expect(await authenticate(tenant, { scopes: ["api"] })).toMatchObject({
      token: "00D",
      metadata: { instance_url },
    });
    endpoint.requests.length = 0;
    await deleteTokens(tenant);
    expect(endpoint.requests.map(({ path, form }) => [path, form["token"]])).toEqual([
      ["/revoke", "5Aep"],
      ["/revoke", "00D"],
    ]);
  });

  test("gives a token that cannot be refreshed, and is used until it fails", async ({
    server,
    tenant,
    endpoint,
    expect,
  }) => {
    const body = { access_token: "00D", token_type: "Bearer" };
    await connect({ server, tenant, endpoint }, "salesforce", [], body);
    expect(await tokensOf(tenant)).toMatchObject([{ expires_at: null }]);
  });
});

describe("Microsoft", () => {
  test("gives a refresh token on request, and lists scopes in its own way", async ({
    server,
    tenant,
    endpoint,
    expect,
  }) => {
    const scopes = ["User.Read", "openid", "email"];
    const asked = await connect({ server, tenant, endpoint }, "microsoft", scopes, {
      access_token: "ey",
      token_type: "Bearer",
      expires_in: 3599,
      scope: "https://graph.microsoft.com/User.Read",
      refresh_token: "0.A",
    });
    expect(asked["scope"]).toBe("User.Read openid email offline_access");
    expect(await authenticate(tenant, { scopes })).toMatchObject({
      status: "completed",
      token: "ey",
      metadata: null,
    });
    expect(await authenticate(tenant, { scopes: ["Mail.Send"] })).toMatchObject({
      status: "pending",
    });
  });
});

describe("a provider without a known revocation endpoint", () => {
  test("does not prevent a deletion", async ({ server, tenant, endpoint, expect }) => {
    await createProvider(tenant, endpoint);
    const places = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
    const elsewhere = { token_endpoint: "https://other.example", revocation_endpoint: "x" };
    for (const [answer, asked] of [
      // After a broken connection workerd repeats the request at most once.
      [null, places.slice(0, 1)],
      [{ status: 404, body: "no" }, places],
      [{ body: elsewhere }, places],
    ] as const) {
      const { auth_id } = await authenticate(tenant);
      endpoint.answer = { body: { access_token: "t", token_type: "bearer" } };
      await follow(`${server.url}/v2/auth/callback/notes?code=c&state=${auth_id}`);
      expect(await tokensOf(tenant)).toHaveLength(1);
      endpoint.answer = answer;
      endpoint.requests.length = 0;
      await deleteTokens(tenant);
      expect([...new Set(endpoint.requests.map(({ path }) => path))]).toEqual(asked);
      expect(await tokensOf(tenant)).toEqual([]);
    }
  });
});
