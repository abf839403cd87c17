import { describe } from "vitest";
import {
  authenticate,
  createProvider,
  expireTokens,
  follow,
  newTenant,
  type Redirect,
  type Tenant,
  testWithOAuth,
  tokensOf,
  wait,
} from "../support/oauth.ts";
import { consent } from "../support/oauth-user.ts";
import type { TestServer } from "../support/server.ts";
import { startTokenEndpoint, type TokenEndpoint } from "../support/token-endpoint.ts";

const FRONTEND = "https://app.example/connections?tab=oauth";

const GOOD = { access_token: "the token", token_type: "Bearer", expires_in: 3600 };

const USED = "The attempt has already ended, or has expired";
const UNKNOWN = "The attempt is unknown, or has expired";

const test = testWithOAuth({
  OAUTH_FRONTEND_CALLBACK_URL: FRONTEND,
  CONTROL_PLANE_HOST: "127.0.0.1",
}).extend("endpoint", { scope: "file" }, async ({ vars }, { onCleanup }) => {
  void vars;
  const endpoint = await startTokenEndpoint();
  onCleanup(() => endpoint.close());
  return endpoint;
});

function callback(server: TestServer, provider: string, query: object): Promise<Redirect> {
  const text = new URLSearchParams({ ...query }).toString();
  return follow(`${server.url}/v2/auth/callback/${provider}?${text}`);
}

function failed(error: string, description: unknown, more: object = {}) {
  const query = {
    tab: "oauth",
    status: "failed",
    provider_id: "notes",
    ...more,
    error,
    error_description: description,
  };
  return { status: 302, page: "https://app.example/connections", query };
}

function succeeded(authId: string) {
  const query = { tab: "oauth", status: "completed", provider_id: "notes", auth_id: authId };
  return { status: 302, page: "https://app.example/connections", query };
}

/**
 * Makes an attempt at a provider with this answer. Returns where the user's browser ends up, and what
 * the client gets.
 */
async function exchange(
  of: { server: TestServer; tenant: Tenant; endpoint: TokenEndpoint },
  answer: TokenEndpoint["answer"],
): Promise<{ authId: string; redirect: Redirect; waited: unknown }> {
  const { server, tenant, endpoint } = of;
  await createProvider(tenant, endpoint);
  const { auth_id: authId } = await authenticate(tenant);
  endpoint.answer = answer;
  const redirect = await callback(server, "notes", { code: "a code", state: authId });
  return { authId, redirect, waited: await wait(tenant, authId) };
}

describe("a callback", () => {
  test("redirects to the frontend, and works once", async ({ server, oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const { url, auth_id } = await authenticate(tenant);
    const address = await consent(url, "ada");
    expect(await follow(address)).toEqual(succeeded(auth_id));
    const waited = await wait(tenant, auth_id);
    expect(await follow(address)).toEqual(failed("invalid_state", USED, { auth_id }));
    expect(await callback(server, "notes", { state: auth_id, error: "access_denied" })).toEqual(
      failed("invalid_state", USED, { auth_id }),
    );
    expect(await wait(tenant, auth_id)).toEqual(waited);
  });

  test("is not used up by a HEAD request", async ({ server, tenant, endpoint, expect }) => {
    await createProvider(tenant, endpoint);
    const { auth_id } = await authenticate(tenant);
    endpoint.answer = { body: GOOD };
    const path = `/v2/auth/callback/notes?code=c&state=${auth_id}`;
    const head = await server.fetch(path, { method: "HEAD", redirect: "manual" });
    expect(head.status).toBe(405);
    expect(await follow(server.url + path)).toEqual(succeeded(auth_id));
  });

  test("stores one token when it arrives many times at once", async ({
    server,
    tenant,
    endpoint,
    expect,
  }) => {
    await createProvider(tenant, endpoint);
    const { auth_id } = await authenticate(tenant);
    endpoint.answer = { body: GOOD };
    endpoint.requests.length = 0;
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => callback(server, "notes", { code: "c", state: auth_id })),
    );
    const statuses = answers.map(({ query }) => query["status"]).toSorted();
    expect(statuses).toEqual(["completed", "failed", "failed", "failed", "failed", "failed"]);
    expect(endpoint.requests).toHaveLength(1);
    expect(await tokensOf(tenant)).toHaveLength(1);
  });

  test.for([
    ["none", {}, "The answer has no state, so it belongs to no attempt"],
    ["an empty one", { state: "" }, "The answer has no state, so it belongs to no attempt"],
    ["an unknown one", { state: "x".repeat(43) }, UNKNOWN],
    [
      "none, and an error",
      { error: "<b>" },
      "The answer has no state, so it belongs to no attempt",
    ],
    ["odd characters", { state: "' OR 1=1 -- \0\u{1f600}" }, UNKNOWN],
  ] as const)(
    "belongs to no attempt if its state is %s",
    async ([, query, text], { server, expect }) => {
      expect(await callback(server, "notes", { code: "c", ...query })).toEqual(
        failed("invalid_state", text),
      );
    },
  );

  test("ends the attempt if it is of another provider", async ({
    server,
    tenant,
    endpoint,
    expect,
  }) => {
    await createProvider(tenant, endpoint);
    await createProvider(tenant, endpoint, { provider_id: "other" });
    const { auth_id } = await authenticate(tenant);
    endpoint.requests.length = 0;
    const { query } = await callback(server, "other", { code: "c", state: auth_id });
    expect(query).toEqual({
      tab: "oauth",
      status: "failed",
      provider_id: "other",
      auth_id,
      error: "invalid_state",
      error_description: "The attempt was made with another provider",
    });
    endpoint.answer = { body: GOOD };
    expect(await callback(server, "notes", { code: "c", state: auth_id })).toEqual(
      failed("invalid_state", USED, { auth_id }),
    );
    expect(endpoint.requests).toEqual([]);
  });

  test("has no effect when it is too late", async ({ server, tenant, endpoint, expect }) => {
    await createProvider(tenant, endpoint);
    const { auth_id } = await authenticate(tenant);
    const late = "UPDATE oauth_attempts SET expires_at = ? WHERE auth_id = ?";
    await server.database.run(late, [Date.now() - 1, auth_id]);
    endpoint.answer = { body: GOOD };
    expect(await callback(server, "notes", { code: "c", state: auth_id })).toEqual(
      failed("invalid_state", USED, { auth_id }),
    );
    expect(await wait(tenant, auth_id, 20)).toMatchObject({ status: "not_found", error: null });
  });

  test("passes on the provider's error as plain text", async ({
    server,
    tenant,
    endpoint,
    expect,
  }) => {
    await createProvider(tenant, endpoint);
    const { auth_id } = await authenticate(tenant);
    const said = {
      error: 'not"a\\code',
      error_description: `\u0007no\r\n\u202e${"x".repeat(500)}`,
    };
    const description = `no ${"x".repeat(297)}`;
    expect(await callback(server, "notes", { state: auth_id, code: "c", ...said })).toEqual(
      failed("provider_error", description, { auth_id }),
    );
    expect(await wait(tenant, auth_id)).toEqual({
      status: "not_found",
      token: null,
      error: "provider_error",
      error_description: description,
    });
  });

  test("ends the attempt if it has no code", async ({ server, tenant, endpoint, expect }) => {
    await createProvider(tenant, endpoint);
    const { auth_id } = await authenticate(tenant);
    expect(await callback(server, "notes", { state: auth_id, scope: "a", iss: "b" })).toEqual(
      failed("invalid_request", "The provider sent neither a code nor an error", { auth_id }),
    );
  });

  test("ends the attempt if the provider refuses the code", async ({
    server,
    oauth,
    tenant,
    expect,
  }) => {
    await createProvider(tenant, oauth);
    const { auth_id } = await authenticate(tenant);
    expect(await callback(server, "notes", { state: auth_id, code: "made up" })).toEqual(
      failed("invalid_grant", "grant request is invalid", { auth_id }),
    );
    expect(await wait(tenant, auth_id)).toMatchObject({ error: "invalid_grant" });
  });

  test("ends the attempt if the client's secret is wrong", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth, { client_secret: "wrong" });
    const { auth_id, url } = await authenticate(tenant);
    expect(await follow(await consent(url, "ada"))).toEqual(
      failed("invalid_client", expect.any(String), { auth_id }),
    );
  });

  test.for([
    ["two states", "notes?state=a&state=b", ["query", "state"]],
    ["a code without end", `notes?code=${"c".repeat(16_385)}`, ["query", "code"]],
    ["no name of a provider", "not%20a%20slug?state=a", ["path", "provider_id"]],
  ] as const)("is a validation error with %s", async ([, path, loc], { server, expect }) => {
    const response = await server.fetch(`/v2/auth/callback/${path}`, { redirect: "manual" });
    expect([response.status, await response.json()]).toEqual([
      422,
      { detail: [{ loc, msg: expect.any(String), type: expect.any(String) }] },
    ]);
  });
});

describe("a provider's answer for the code", () => {
  test("may have additional members", async ({ server, tenant, endpoint, expect }) => {
    const body = {
      ...GOOD,
      id_token: "of an issuer that nobody knows",
      refresh_token: null,
      scope: "",
      expires_in: "3600",
    };
    const { authId, redirect, waited } = await exchange({ server, tenant, endpoint }, { body });
    expect(redirect).toEqual(succeeded(authId));
    expect(waited).toMatchObject({ status: "completed", token: "the token" });
    const [request] = endpoint.requests.slice(-1);
    expect(request).toMatchObject({
      path: "/token",
      headers: { accept: "application/json" },
      form: {
        grant_type: "authorization_code",
        code: "a code",
        redirect_uri: `${server.url}/v2/auth/callback/notes`,
        code_verifier: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      },
    });
    expect(await tokensOf(tenant)).toMatchObject([{ scopes: ["openid", "notes:read"] }]);
  });

  const NO_TOKEN =
    /^The provider's token endpoint answered \d+ with something that is not a token$/;
  const HTML = { "content-type": "text/html" };

  test.for([
    ["a page", { body: "<h1>Hello</h1>", headers: HTML }, "invalid_token_response", NO_TOKEN],
    [
      "a page of an error",
      { status: 404, body: "no", headers: HTML },
      "invalid_token_response",
      NO_TOKEN,
    ],
    ["null", { body: null }, "invalid_token_response", NO_TOKEN],
    ["a list", { body: [GOOD] }, "invalid_token_response", NO_TOKEN],
    ["no token", { body: { token_type: "bearer" } }, "invalid_token_response", NO_TOKEN],
    [
      "a number for a token",
      { body: { ...GOOD, access_token: 7 } },
      "invalid_token_response",
      NO_TOKEN,
    ],
    [
      "another kind of token",
      { body: { ...GOOD, token_type: "mac" } },
      "invalid_token_response",
      NO_TOKEN,
    ],
    ["no time", { body: { ...GOOD, expires_in: "soon" } }, "invalid_token_response", NO_TOKEN],
    [
      "too much",
      { body: " ".repeat(2 ** 20) + JSON.stringify(GOOD) },
      "invalid_token_response",
      NO_TOKEN,
    ],
    [
      "a redirect to nowhere",
      { status: 302, body: "", headers: {} },
      "invalid_token_response",
      NO_TOKEN,
    ],
    [
      "an error",
      { status: 400, body: { error: "invalid_grant" } },
      "invalid_grant",
      /^The provider refused to give a token$/,
    ],
    [
      "an error with 200",
      { body: { error: "bad_code", error_description: "Old" } },
      "bad_code",
      /^Old$/,
    ],
    ["an outage", { status: 503, body: "busy" }, "temporarily_unavailable", /answered 503$/],
    // The platform under test has an outbound proxy, which answers with 500 in that case.
    ["no answer", null, "temporarily_unavailable", /did not answer$|answered 500$/],
  ] as const)(
    "ends the attempt when it is %s",
    async ([, answer, error, text], { server, tenant, endpoint, expect }) => {
      const { authId, redirect, waited } = await exchange({ server, tenant, endpoint }, answer);
      const description: unknown = expect.stringMatching(text);
      expect(redirect).toEqual(failed(error, description, { auth_id: authId }));
      expect(waited).toEqual({
        status: "not_found",
        token: null,
        error,
        error_description: description,
      });
      expect(await tokensOf(tenant)).toEqual([]);
    },
  );
});

describe("a refresh", () => {
  const EXPIRING = { ...GOOD, expires_in: 1, refresh_token: "again" };

  test("leads the user to a new attempt when it is refused", async ({
    server,
    tenant,
    endpoint,
    expect,
  }) => {
    await exchange({ server, tenant, endpoint }, { body: EXPIRING });
    const [before] = await tokensOf(tenant);
    endpoint.answer = { status: 400, body: { error: "invalid_grant" } };
    endpoint.requests.length = 0;
    const first = await authenticate(tenant);
    const second = await authenticate(tenant);
    expect([first.status, second.status]).toEqual(["pending", "pending"]);
    expect(endpoint.requests.map(({ form }) => form["refresh_token"])).toEqual(["again"]);
    endpoint.answer = { body: GOOD };
    await callback(server, "notes", { code: "c", state: second.auth_id });
    expect((await authenticate(tenant)).token).toBe("the token");
    expect((await tokensOf(tenant)).map(({ id }) => id)).toEqual([before?.id]);
  });

  test.for([
    ["an outage", { status: 500, body: "" }],
    ["no answer", null],
    ["nonsense", { body: "?" }],
  ] as const)(
    "is tried again later after %s",
    async ([, answer], { server, tenant, endpoint, expect }) => {
      await exchange({ server, tenant, endpoint }, { body: EXPIRING });
      await expireTokens(server, tenant);
      endpoint.answer = answer;
      const given = { provider: "notes", scopes: [], user_id: "ada" };
      const { status, body } = await tenant.call("POST", "/authenticate", given);
      expect([status, body]).toEqual([
        503,
        {
          detail: expect.stringMatching(/^The token cannot be refreshed now: The provider's token/),
        },
      ]);
      endpoint.answer = { body: { ...GOOD, access_token: "fresh" } };
      expect(await authenticate(tenant)).toMatchObject({ status: "completed", token: "fresh" });
      // The answer had no new refresh token, so the old one is still valid.
      await expireTokens(server, tenant);
      expect(await authenticate(tenant)).toMatchObject({ status: "completed", token: "fresh" });
      expect(endpoint.requests.at(-1)?.form).toMatchObject({
        grant_type: "refresh_token",
        refresh_token: "again",
      });
    },
  );
});

describe("a callback with a key", () => {
  test("is answered with JSON", async ({ tenant, endpoint, expect }) => {
    await createProvider(tenant, endpoint);
    const { auth_id } = await authenticate(tenant);
    endpoint.answer = { body: GOOD };
    const body = { code: "c", state: auth_id };
    const done = await tenant.call("POST", "/callback/notes", body);
    expect([done.status, done.body]).toEqual([
      200,
      { status: "completed", provider_id: "notes", auth_id },
    ]);
    const again = await tenant.call("POST", "/callback/notes", body);
    expect([again.status, again.body]).toEqual([400, { detail: `invalid_state: ${USED}` }]);
  });

  test("has no effect for another workspace", async ({ server, tenant, endpoint, expect }) => {
    await createProvider(tenant, endpoint);
    const { auth_id } = await authenticate(tenant);
    const other = await newTenant(server);
    await createProvider(other, endpoint);
    const body = { code: "c", state: auth_id };
    const refused = await other.call("POST", "/callback/notes", body);
    expect([refused.status, refused.body]).toEqual([400, { detail: `invalid_state: ${UNKNOWN}` }]);
    endpoint.answer = { body: GOOD };
    expect((await tenant.call("POST", "/callback/notes", body)).status).toBe(200);
  });

  test("needs a key, a code and a state", async ({ server, tenant, expect }) => {
    const url = "/v2/auth/callback/notes";
    const response = await server.fetch(url, { method: "POST", body: "{}" });
    expect(response.status).toBe(401);
    const { status, body } = await tenant.call("POST", "/callback/notes", {});
    expect([status, body]).toEqual([
      422,
      {
        detail: [
          { loc: ["body", "code"], msg: "Field required", type: "missing" },
          { loc: ["body", "state"], msg: "Field required", type: "missing" },
        ],
      },
    ]);
  });
});

describe("the platform's own page", () => {
  test("shows its own texts, and nothing from the link", async ({ server, expect }) => {
    const page = async (query: object) => {
      const text = new URLSearchParams({ ...query }).toString();
      const response = await server.fetch(`/v2/auth/done?${text}`);
      return { response, html: await response.text() };
    };
    const evil = "<script>alert(1)</script>";
    const { response, html } = await page({ status: evil, error: evil, error_description: evil });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
    expect(html).toContain("<h1>Not connected</h1>");
    expect(html).not.toMatch(/script|alert/);
    expect((await page({ status: "completed" })).html).toContain("<h1>Connected</h1>");
    const denied = await page({ status: "failed", error: "access_denied" });
    expect(denied.html).toContain("Access was not granted.");
    expect((await page({ error: "constructor" })).html).toContain("could not be connected");
  });
});

describe("the control plane's host", () => {
  test("serves no other API", async ({ server, tenant, expect }) => {
    expect((await tenant.call("GET", "/providers")).status).toBe(200);
    for (const path of ["/threads/search", "/api/v1/sessions", "/v2", "/v2/nothing"]) {
      const response = await server.fetch(path, { method: "POST", body: "{}" });
      const status = path === "/v2/nothing" ? 401 : 404;
      expect([path, response.status]).toEqual([path, status]);
    }
  });
});
