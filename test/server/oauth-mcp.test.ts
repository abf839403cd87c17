import { describe } from "vitest";
import { startMcpServer } from "../support/mcp-server.ts";
import {
  authenticate,
  connect,
  expireTokens,
  type Tenant,
  testWithOAuth,
} from "../support/oauth.ts";
import { ISO_TIME, UUID } from "../support/uuid.ts";

const test = testWithOAuth().extend("mcp", async ({ vars }, { onCleanup }) => {
  void vars;
  const mcp = await startMcpServer();
  onCleanup(() => mcp.close());
  return mcp;
});

function discover({ call }: Tenant, mcpServerUrl: string, change: object = {}) {
  const given = { provider_id: "notes", name: "Notes", mcp_server_url: mcpServerUrl, ...change };
  return call("POST", "/providers/mcp-discover", given);
}

describe("the provider of an MCP server", () => {
  test("is discovered, and gives tokens for that server", async ({
    server,
    oauth,
    tenant,
    mcp,
    expect,
  }) => {
    mcp.metadataUrl = `${mcp.origin}/meta`;
    mcp.documents["/meta"] = { resource: mcp.url, authorization_servers: [oauth.url] };
    const created = await discover(tenant, mcp.url);
    const provider = {
      id: expect.stringMatching(UUID),
      organization_id: tenant.id,
      provider_id: "notes",
      name: "Notes",
      client_id: expect.any(String),
      auth_url: oauth.authUrl,
      token_url: oauth.tokenUrl,
      uses_pkce: true,
      code_challenge_method: "S256",
      provider_type: null,
      mcp_server_url: mcp.url,
      token_endpoint_auth_method: "client_secret_basic",
      is_dynamic_client: true,
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
    };
    expect([created.status, created.body]).toEqual([200, provider]);
    expect((await tenant.call("GET", "/providers")).body).toEqual([created.body]);
    expect(mcp.asked).toEqual(["GET /notes/mcp", "GET /meta"]);

    const scopes = ["notes:read"];
    const first = await connect(tenant, "ada", { scopes });
    const mine = { user: "ada", audience: mcp.url };
    expect(await oauth.describe(first)).toEqual(mine);
    await expireTokens(server, tenant);
    const { token } = await authenticate(tenant, { scopes });
    expect([token === first, await oauth.describe(token)]).toEqual([false, mine]);
    const as = { "x-user-id": "ada" };
    await tenant.call("DELETE", "/tokens?provider_id=notes", undefined, as);
    expect(await oauth.describe(token)).toBeNull();
  });

  test.for([
    ["beside the server", "/.well-known/oauth-protected-resource/notes/mcp", "/notes/"],
    ["at the root", "/.well-known/oauth-protected-resource", ""],
  ] as const)(
    "is discovered by metadata %s",
    async ([, path, resource], { oauth, tenant, mcp, expect }) => {
      const metadata = { resource: mcp.origin + resource, authorization_servers: [oauth.url] };
      mcp.documents[path] = metadata;
      expect((await discover(tenant, mcp.url)).status).toBe(200);
      const { url } = await authenticate(tenant, { scopes: [] });
      expect(new URL(url).searchParams.get("resource")).toBe(metadata.resource);
    },
  );

  test("is the server itself if there is no metadata", async ({ tenant, mcp, expect }) => {
    mcp.documents["/.well-known/oauth-authorization-server"] = {
      issuer: mcp.origin,
      authorization_endpoint: `${mcp.origin}/authorize`,
      token_endpoint: `${mcp.origin}/token`,
      registration_endpoint: `${mcp.origin}/register`,
      token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
      code_challenge_methods_supported: ["S256"],
    };
    mcp.documents["/register"] = { client_id: "new", token_endpoint_auth_method: "none" };
    const { status, body } = await discover(tenant, mcp.url);
    expect([status, body]).toMatchObject([
      200,
      { client_id: "new", token_endpoint_auth_method: "none", token_url: `${mcp.origin}/token` },
    ]);
    const { url } = await authenticate(tenant, { scopes: [] });
    expect(new URL(url).searchParams.has("resource")).toBe(false);
  });

  test("needs an unused name, which is checked before any request", async ({
    oauth,
    tenant,
    mcp,
    expect,
  }) => {
    mcp.documents["/.well-known/oauth-protected-resource"] = {
      resource: mcp.origin,
      authorization_servers: [oauth.url],
    };
    expect((await discover(tenant, mcp.url)).status).toBe(200);
    mcp.asked.length = 0;
    expect((await discover(tenant, mcp.url)).status).toBe(409);
    expect(mcp.asked).toEqual([]);
  });
});

describe("an MCP server is refused", () => {
  const META = "/.well-known/oauth-protected-resource";
  const SERVER = "/.well-known/oauth-authorization-server";

  type Documents = (origin: string) => Record<string, unknown>;

  const own = (change: object, registered: unknown = { client_id: "c" }): Documents => {
    return (origin) => ({
      [SERVER]: {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        token_endpoint_auth_methods_supported: ["none"],
        code_challenge_methods_supported: ["S256"],
        ...change,
      },
      "/register": registered,
    });
  };

  const REFUSALS: [string, Documents, string][] = [
    ["without metadata", () => ({}), "does not describe itself"],
    [
      "whose metadata is of another",
      () => ({
        [META]: { resource: "https://a.example", authorization_servers: ["https://b.example"] },
      }),
      "about another resource",
    ],
    [
      "whose metadata is of a sibling",
      (origin) => ({ [META]: { resource: `${origin}/note`, authorization_servers: [origin] } }),
      "about another resource",
    ],
    [
      "whose authorization server has no address",
      (origin) => ({ [META]: { resource: origin, authorization_servers: ["ftp://b.example"] } }),
      "does not conform to the standard",
    ],
    ["without PKCE", own({ code_challenge_methods_supported: ["plain"] }), "does not support PKCE"],
    [
      "with invalid lists",
      own({ code_challenge_methods_supported: {} }),
      "does not conform to the standard",
    ],
    ["of another issuer", own({ issuer: "https://b.example" }), "does not conform to the standard"],
    ["without endpoints", own({ token_endpoint: null }), "does not conform to the standard"],
    ["without registration", own({ registration_endpoint: undefined }), "let clients register"],
    [
      "with odd registration",
      own({ registration_endpoint: "mailto:a@b" }),
      "does not conform to the standard",
    ],
    ["that gives no client", own({}, { client_id: 7 }), "does not conform to the standard"],
    [
      "that wants proof we do not have",
      own({ token_endpoint_auth_methods_supported: ["private_key_jwt"] }),
      "takes none of",
    ],
  ];

  test.for(REFUSALS)("%s", async ([, documents, text], { tenant, mcp, expect }) => {
    mcp.documents = documents(mcp.origin);
    const { status, body } = await discover(tenant, mcp.url);
    const msg: unknown = expect.stringContaining(text);
    expect([status, body]).toEqual([
      422,
      { detail: [{ loc: ["body", "mcp_server_url"], msg, type: "value_error" }] },
    ]);
  });

  test("with an invalid address", async ({ tenant, expect }) => {
    for (const url of ["notes", "ftp://notes.example", "https://u:p@notes.example"]) {
      const { status, body } = await discover(tenant, url);
      expect([url, status, body]).toMatchObject([
        url,
        422,
        { detail: [{ loc: ["body", "mcp_server_url"], type: "value_error" }] },
      ]);
    }
  });
});
