import { describe } from "vitest";
import {
  authenticate,
  connect,
  createProvider,
  newTenant,
  providerBody,
  testWithOAuth,
  tokensOf,
} from "../support/oauth.ts";
import { CLIENT } from "../support/oauth-server.ts";
import { testWithServer } from "../support/server.ts";
import { answerWithout, routesWithIds } from "../support/tenancy.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testWithOAuth();

const bare = testWithServer({ ENCRYPTION_KEYS: "", EXPORT_PRIVATE_ENDPOINTS: "" });

const PUBLIC = { authUrl: "https://notes.example/auth", tokenUrl: "https://notes.example/token" };

const NOT_FOUND = [404, { detail: "OAuth provider not found" }];

describe("a provider", () => {
  test("is returned without its secret", async ({ tenant, expect }) => {
    const given = providerBody(PUBLIC, { provider_type: "slack" });
    const created = await tenant.call("POST", "/providers", given);
    const { client_secret: _, ...shown } = given;
    const provider = {
      ...shown,
      id: expect.stringMatching(UUID),
      organization_id: tenant.id,
      code_challenge_method: "S256",
      token_endpoint_auth_method: "client_secret_post",
      mcp_server_url: null,
      is_dynamic_client: false,
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
    };
    expect([created.status, created.body]).toEqual([200, provider]);
    const read = await tenant.call("GET", "/providers/notes");
    expect([read.status, read.body]).toEqual([200, created.body]);
    await createProvider(tenant, PUBLIC, { provider_id: "second" });
    const listed = await tenant.call("GET", "/providers");
    expect(listed.body).toMatchObject([created.body, { provider_id: "second" }]);
  });

  test("has a unique name in the workspace", async ({ server, tenant, expect }) => {
    await createProvider(tenant, PUBLIC);
    const again = await tenant.call("POST", "/providers", providerBody(PUBLIC));
    expect([again.status, again.body]).toEqual([
      409,
      { detail: "The workspace has an OAuth provider 'notes' already" },
    ]);
    await createProvider(await newTenant(server), PUBLIC);
  });

  test("is changed only in the given fields", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, PUBLIC, { client_secret: "old" });
    const before = (await tenant.call("GET", "/providers/notes")).body as object;
    const nothing = { name: null, client_secret: null, auth_url: null, uses_pkce: null };
    const same = await tenant.call("PATCH", "/providers/notes", nothing);
    expect(same.body).toEqual({ ...before, updated_at: expect.any(String) });
    const change = { auth_url: oauth.authUrl, token_url: oauth.tokenUrl, name: "Ours" };
    const secret = { client_secret: CLIENT.client_secret, code_challenge_method: "S256" };
    const changed = await tenant.call("PATCH", "/providers/notes", { ...change, ...secret });
    expect(changed.body).toEqual({ ...before, ...change, updated_at: expect.any(String) });
    expect(await oauth.userOf(await connect(tenant, "ada"))).toBe("ada");
  });

  test("is deleted with its users' tokens", async ({ server, oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    await connect(tenant, "ada");
    await authenticate(tenant, { user_id: "bob" });
    const deleted = await tenant.call("DELETE", "/providers/notes");
    expect([deleted.status, deleted.body]).toEqual([200, {}]);
    const gone = await tenant.call("DELETE", "/providers/notes");
    expect([gone.status, gone.body]).toEqual(NOT_FOUND);
    for (const table of ["oauth_attempts", "oauth_tokens"]) {
      const sql = `SELECT count(*) AS rows FROM ${table} WHERE workspace_id = ?`;
      expect(await server.database.run(sql, [tenant.id])).toEqual([{ rows: 0 }]);
    }
    await createProvider(tenant, oauth);
    expect(await tokensOf(tenant)).toEqual([]);
  });
});

describe("a provider is refused", () => {
  const S256 = "Input should be 'S256'";
  const QUERY = "which each request sets itself";

  test.for([
    ["provider_id", { provider_id: "a/b" }, "string_pattern_mismatch", "letters, digits"],
    ["provider_id", { provider_id: "" }, "string_too_short", "at least 1"],
    ["name", { name: "\0" }, "string_pattern_mismatch", "no control characters"],
    ["auth_url", { auth_url: "notes" }, "value_error", "should be a URL"],
    ["auth_url", { auth_url: "javascript:alert(1)" }, "value_error", "should begin with https"],
    ["auth_url", { auth_url: "https://a.example/?state=1" }, "value_error", QUERY],
    ["auth_url", { auth_url: "https://a.example/?a=1&scope=x" }, "value_error", QUERY],
    ["token_url", { token_url: "https://u:p@a.example" }, "value_error", "credentials"],
    ["token_url", { token_url: "https://a.example/#x" }, "value_error", "a fragment"],
    ["code_challenge_method", { code_challenge_method: "plain" }, "literal_error", S256],
    ["provider_type", { provider_type: "github" }, "enum", "'microsoft', 'salesforce' or 'slack'"],
    ["token_endpoint_auth_method", { token_endpoint_auth_method: "jwt" }, "enum", "'none'"],
    ["client_secret", { client_secret: null }, "missing", "'client_secret_post'"],
    ["client_secret", { token_endpoint_auth_method: "none" }, "value_error", "no secret"],
    [
      "uses_pkce",
      { token_endpoint_auth_method: "none", client_secret: null, uses_pkce: false },
      "value_error",
      "needs PKCE",
    ],
  ] as const)("for %s: %o", async ([field, change, type, text], { tenant, expect }) => {
    const { status, body } = await tenant.call("POST", "/providers", providerBody(PUBLIC, change));
    const detail = [{ loc: ["body", field], msg: expect.stringContaining(text), type }];
    expect([status, body]).toEqual([422, { detail }]);
  });

  test("when a change would leave its client without authentication", async ({
    tenant,
    expect,
  }) => {
    const kind = { token_endpoint_auth_method: "none", client_secret: null };
    await createProvider(tenant, PUBLIC, kind);
    for (const [change, field] of [
      [{ uses_pkce: false }, "uses_pkce"],
      [{ client_secret: "s" }, "client_secret"],
      [{ code_challenge_method: "plain" }, "code_challenge_method"],
      [{ token_url: "ftp://notes.example" }, "token_url"],
    ] as const) {
      const { status, body } = await tenant.call("PATCH", "/providers/notes", change);
      expect([status, body]).toMatchObject([422, { detail: [{ loc: ["body", field] }] }]);
    }
  });
});

describe("a request for a token", () => {
  test.for([
    [{ provider: 7 }, "provider", "string_type"],
    [{ scopes: "openid" }, "scopes", "list_type"],
    [{ user_id: "" }, "user_id", "string_too_short"],
    [{ agent_id: "a\nb" }, "agent_id", "string_pattern_mismatch"],
    [{ token_id: "7" }, "token_id", "uuid_parsing"],
    [{ use_agent_builder_public_oauth: true }, "use_agent_builder_public_oauth", "literal_error"],
  ] as const)("is refused with %o", async ([change, field, type], { tenant, expect }) => {
    const given = { provider: "notes", scopes: [], ...change };
    const { status, body } = await tenant.call("POST", "/authenticate", given);
    expect([status, body]).toMatchObject([422, { detail: [{ loc: ["body", field], type }] }]);
  });

  test("is refused with an invalid scope", async ({ tenant, expect }) => {
    for (const scope of ["", "a b", "a,b", 'a"b', "ä"]) {
      const given = { provider: "notes", scopes: [scope] };
      const { status, body } = await tenant.call("POST", "/authenticate", given);
      expect([status, body]).toMatchObject([422, { detail: [{ loc: ["body", "scopes", 0] }] }]);
    }
  });

  test("needs an existing provider and a valid user", async ({ tenant, expect }) => {
    const given = { provider: "nothing", scopes: [], use_agent_builder_public_oauth: false };
    const unknown = await tenant.call("POST", "/authenticate", given);
    expect([unknown.status, unknown.body]).toEqual(NOT_FOUND);
    const long = { "x-user-id": "x".repeat(256) };
    const { status, body } = await tenant.call("GET", "/tokens", undefined, long);
    expect([status, body]).toMatchObject([422, { detail: [{ loc: ["header", "x-user-id"] }] }]);
  });

  test("waits no longer than its limit", async ({ tenant, expect }) => {
    for (const timeout of ["-1", "301", "soon"]) {
      const { status, body } = await tenant.call("GET", `/wait/x?timeout=${timeout}`);
      expect([status, body]).toMatchObject([422, { detail: [{ loc: ["query", "timeout"] }] }]);
    }
    const { status, body } = await tenant.call("GET", `/wait/${"x".repeat(43)}`);
    expect([status, body]).toMatchObject([200, { status: "not_found", token: null }]);
  });
});

describe("another workspace", () => {
  test("finds nothing by the first one's ids", async ({ server, oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    await connect(tenant, "default", { user_id: null });
    const { auth_id } = await authenticate(tenant, { user_id: "bob" });
    const [token] = await tokensOf(tenant, "default");
    const { apiKey } = await makeWorkspace(server, "stranger");
    const foreign = { provider_id: "notes", token_id: token?.id ?? "", auth_id };
    const missing = { provider_id: "other", token_id: MISSING_ID, auth_id: "x".repeat(43) };
    const routes = (await routesWithIds(server)).filter(
      ({ method, path }) =>
        path.startsWith("/v2/auth/") &&
        !(method === "GET" && /callback|setup/.test(path)) &&
        // Connections are tested elsewhere.
        !path.includes("/agents/"),
    );
    expect(routes).toHaveLength(7);
    for (const route of routes) {
      const isPatch = route.method === "PATCH";
      const request = { apiKey, body: isPatch ? {} : { code: "c", state: auth_id } };
      const answer = await answerWithout(server, route, foreign, request);
      expect([route, answer]).toEqual([
        route,
        await answerWithout(server, route, missing, request),
      ]);
    }
    for (const path of ["/providers", "/tokens"]) {
      const response = await server.fetch(`/v2/auth${path}`, { headers: { "x-api-key": apiKey } });
      expect([path, await response.json()]).toEqual([path, []]);
    }
    expect(await tokensOf(tenant, "default")).toEqual([token]);
  });
});

describe("with settings as they are by default", () => {
  bare("a secret is refused with the name of the missing setting", async ({ server, expect }) => {
    const tenant = await newTenant(server);
    const { status, body } = await tenant.call("POST", "/providers", providerBody(PUBLIC));
    expect([status, body]).toEqual([
      503,
      {
        detail: expect.stringMatching(
          /^Secrets cannot be kept or read: ENCRYPTION_KEYS is not set/,
        ),
      },
    ]);
  });

  bare("addresses that are not public are refused", async ({ server, expect }) => {
    const tenant = await newTenant(server);
    for (const url of [
      "http://notes.example/token",
      "https://localhost/token",
      "https://10.0.0.1/token",
      "https://[::1]/token",
      "https://metadata.internal/",
    ]) {
      for (const field of ["auth_url", "token_url"]) {
        const given = providerBody(PUBLIC, { [field]: url });
        const { status, body } = await tenant.call("POST", "/providers", given);
        expect([url, status, body]).toMatchObject([
          url,
          422,
          { detail: [{ loc: ["body", field], type: "value_error" }] },
        ]);
      }
    }
  });
});
