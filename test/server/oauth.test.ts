import { describe } from "vitest";
import {
  authenticate,
  connect,
  createProvider,
  expireTokens,
  follow,
  testWithOAuth,
  tokensOf,
  wait,
} from "../support/oauth.ts";
import { CLIENT, clientIdOf } from "../support/oauth-server.ts";
import { cancel, consent } from "../support/oauth-user.ts";
import { ISO_TIME, UUID } from "../support/uuid.ts";

const test = testWithOAuth();

describe("connecting a service", () => {
  test("gives a token that works at the provider", async ({ server, oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const begun = await authenticate(tenant);
    expect(begun).toEqual({
      status: "pending",
      url: expect.any(String),
      auth_id: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      token: null,
      user_id: "ada",
      metadata: null,
    });
    const url = new URL(begun.url);
    expect(url.origin + url.pathname).toBe(oauth.authUrl);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: CLIENT.client_id,
      redirect_uri: `${server.url}/v2/auth/callback/notes`,
      state: begun.auth_id,
      scope: "openid notes:read",
      code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(await wait(tenant, begun.auth_id)).toMatchObject({ status: "pending", token: null });

    const waiting = wait(tenant, begun.auth_id, 20);
    const callback = await consent(begun.url, "ada@notes");
    expect(await follow(callback)).toEqual({
      status: 302,
      page: `${server.url}/v2/auth/done`,
      query: { status: "completed", provider_id: "notes", auth_id: begun.auth_id },
    });

    const waited = (await waiting) as { token: string };
    expect(waited).toEqual({
      status: "completed",
      token: expect.any(String),
      error: null,
      error_description: null,
    });
    expect(await oauth.userOf(waited.token)).toBe("ada@notes");
    expect(await authenticate(tenant)).toEqual({
      status: "completed",
      url: null,
      auth_id: null,
      token: waited.token,
      user_id: "ada",
      metadata: null,
    });
    expect(await tokensOf(tenant)).toEqual([
      {
        id: expect.stringMatching(UUID),
        provider_id: "notes",
        provider_account_label: null,
        scopes: ["openid", "notes:read"],
        expires_at: expect.stringMatching(ISO_TIME),
        is_default: true,
        created_at: expect.stringMatching(ISO_TIME),
        updated_at: expect.stringMatching(ISO_TIME),
      },
    ]);
  });

  test.for([
    ["notes-basic", { token_endpoint_auth_method: "client_secret_basic", uses_pkce: false }],
    ["notes-public", { token_endpoint_auth_method: "none", client_secret: null }],
  ] as const)(
    "works with other kinds of clients: %s",
    async ([name, kind], { oauth, tenant, expect }) => {
      const client_id = clientIdOf(kind.token_endpoint_auth_method);
      await createProvider(tenant, oauth, { provider_id: name, client_id, ...kind });
      const token = await connect(tenant, "bob", { provider: name });
      expect(await oauth.userOf(token)).toBe("bob");
    },
  );

  test("keeps the query of the provider's URL", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth, { auth_url: `${oauth.authUrl}?prompt=consent&ui=x` });
    const { url } = await authenticate(tenant, { scopes: ["openid", "offline_access"] });
    const query = new URL(url).searchParams;
    expect([query.get("prompt"), query.get("ui"), query.get("scope")]).toEqual([
      "consent",
      "x",
      "openid offline_access",
    ]);
    await follow(await consent(url, "ada"));
    expect(await tokensOf(tenant)).toMatchObject([{ scopes: ["openid", "offline_access"] }]);
  });

  test("stores no secret in plain text", async ({ server, oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const token = await connect(tenant, "ada");
    const pending = await authenticate(tenant, { user_id: "bob" });
    const [providers, attempts, tokens] = await Promise.all(
      ["oauth_providers", "oauth_attempts", "oauth_tokens"].map((table) =>
        server.database.run(`SELECT * FROM ${table} WHERE workspace_id = ? ORDER BY rowid`, [
          tenant.id,
        ]),
      ),
    );
    const text = JSON.stringify([providers, attempts, tokens]);
    expect(text).toContain(pending.auth_id);
    expect(text).not.toContain(token);
    expect(text).not.toContain(JSON.stringify(CLIENT.client_secret));
    const sealed = expect.stringMatching(/^1\.[A-Za-z0-9_-]{40,}$/);
    expect(providers).toMatchObject([{ client_secret: sealed, key_version: 1 }]);
    expect(attempts).toMatchObject([{ code_verifier: null }, { code_verifier: sealed }]);
    expect(tokens).toMatchObject([{ access_token: sealed, refresh_token: sealed, key_version: 1 }]);
  });

  test("ends without a token when the user cancels", async ({ server, oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const { url, auth_id } = await authenticate(tenant);
    const why = { error: "access_denied", error_description: "End-User aborted interaction" };
    expect(await follow(await cancel(url))).toEqual({
      status: 302,
      page: `${server.url}/v2/auth/done`,
      query: { status: "failed", provider_id: "notes", auth_id, ...why },
    });
    expect(await wait(tenant, auth_id, 20)).toEqual({ status: "not_found", token: null, ...why });
    expect(await authenticate(tenant)).toMatchObject({ status: "pending" });
  });

  test("may take longer than a client waits", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const { auth_id } = await authenticate(tenant);
    expect(await wait(tenant, auth_id, 1)).toEqual({
      status: "timeout",
      token: null,
      error: null,
      error_description: null,
    });
  });
});

describe("a stored token", () => {
  test("is replaced by one with more scopes", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const first = await connect(tenant, "ada");
    const [before] = await tokensOf(tenant);
    const more = await authenticate(tenant, { scopes: ["notes:write"] });
    expect(more.status).toBe("pending");
    expect(new URL(more.url).searchParams.get("scope")).toBe("notes:write openid notes:read");
    await follow(await consent(more.url, "ada"));
    const now = await authenticate(tenant, { scopes: ["notes:write", "notes:read"] });
    expect([now.status, now.token === first]).toEqual(["completed", false]);
    const [after, ...others] = await tokensOf(tenant);
    expect(others).toEqual([]);
    expect(after).toMatchObject({ id: before?.id, is_default: true });
    expect(after?.scopes.toSorted()).toEqual(["notes:read", "notes:write", "openid"]);
  });

  test("is refreshed once for many concurrent requests", async ({
    server,
    oauth,
    tenant,
    expect,
  }) => {
    await createProvider(tenant, oauth);
    const first = await connect(tenant, "ada");
    await expireTokens(server, tenant);
    const before = oauth.refreshes;
    const answers = await Promise.all(Array.from({ length: 8 }, () => authenticate(tenant)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(["completed"]));
    const [second, ...others] = new Set(answers.map(({ token }) => token));
    expect([second === first, others, oauth.refreshes - before]).toEqual([false, [], 1]);
    expect(await oauth.userOf(second ?? "")).toBe("ada");

    // The new refresh token is stored, too: each one works only once.
    await expireTokens(server, tenant);
    const third = await authenticate(tenant);
    expect([third.status, await oauth.userOf(third.token)]).toEqual(["completed", "ada"]);
  });

  test("is refreshed a minute before it expires", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    oauth.lifetimeSeconds = 50;
    const first = await connect(tenant, "ada");
    oauth.lifetimeSeconds = 3600;
    const { status, token } = await authenticate(tenant);
    const user = await oauth.userOf(token);
    expect([status, token === first, user]).toEqual(["completed", false, "ada"]);
  });

  test("is not used with force_new, and then joined by another one", async ({
    oauth,
    tenant,
    expect,
  }) => {
    await createProvider(tenant, oauth);
    const home = await connect(tenant, "ada@home");
    const work = await connect(tenant, "ada@work", { force_new: true, is_default: false });
    expect([await oauth.userOf(home), await oauth.userOf(work)]).toEqual(["ada@home", "ada@work"]);
    const [first, second, ...others] = await tokensOf(tenant);
    expect([first?.is_default, second?.is_default, others]).toEqual([true, false, []]);
    expect((await authenticate(tenant)).token).toBe(home);
    expect((await authenticate(tenant, { token_id: second?.id })).token).toBe(work);

    const path = `/tokens/${second?.id}/metadata`;
    const change = { provider_account_label: "at work", is_default: true };
    const changed = await tenant.call("PATCH", path, change, { "x-user-id": "ada" });
    expect([changed.status, changed.body]).toMatchObject([200, { id: second?.id, ...change }]);
    expect((await authenticate(tenant)).token).toBe(work);
    expect((await tokensOf(tenant)).map(({ id, is_default }) => [id, is_default])).toEqual([
      [second?.id, true],
      [first?.id, false],
    ]);
    const cleared = { provider_account_label: "" };
    const again = await tenant.call("PATCH", path, cleared, { "x-user-id": "ada" });
    expect(again.body).toMatchObject({ provider_account_label: null, is_default: true });
  });

  test("is renewed in place with force_new and token_id", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    await connect(tenant, "ada");
    const [token] = await tokensOf(tenant);
    const renewed = await connect(tenant, "eve", { force_new: true, token_id: token?.id });
    expect(await oauth.userOf(renewed)).toBe("eve");
    expect((await tokensOf(tenant)).map(({ id }) => id)).toEqual([token?.id]);
  });

  test("is revoked at the provider when it is deleted", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const [first, second] = [
      await connect(tenant, "ada"),
      await connect(tenant, "ada", { force_new: true }),
    ];
    const [, older] = await tokensOf(tenant);
    const as = { "x-user-id": "ada" };
    const deleted = await tenant.call("DELETE", `/tokens/${older?.id}`, undefined, as);
    expect([deleted.status, deleted.body]).toEqual([204, ""]);
    expect([await oauth.userOf(first), await oauth.userOf(second)]).toEqual([null, "ada"]);

    const all = await tenant.call("DELETE", "/tokens?provider_id=notes", undefined, as);
    expect([all.status, all.body]).toEqual([200, {}]);
    expect(await oauth.userOf(second)).toBeNull();
    expect(await tokensOf(tenant)).toEqual([]);
    expect(await authenticate(tenant)).toMatchObject({ status: "pending" });
  });
});

describe("tokens belong", () => {
  test("to a user, however the user is named", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const token = await connect(tenant, "ada");
    const naming = async (body: object, headers: Record<string, string> = {}) => {
      const given = { provider: "notes", scopes: ["openid"], ...body };
      return (await tenant.call("POST", "/authenticate", given, headers)).body;
    };
    const done = { status: "completed", token, user_id: "ada" };
    expect(await naming({ user_id: "ada", ls_user_id: "eve" })).toMatchObject(done);
    expect(await naming({ ls_user_id: "ada" }, { "x-user-id": "eve" })).toMatchObject(done);
    expect(await naming({}, { "x-user-id": "ada" })).toMatchObject(done);
    expect(await naming({})).toMatchObject({ status: "pending", user_id: "default" });
    expect(await naming({ user_id: "ADA" })).toMatchObject({ status: "pending", user_id: "ADA" });
  });

  test("to no other user", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    await connect(tenant, "ada");
    const { auth_id: pending } = await authenticate(tenant, { scopes: ["notes:write"] });
    const [token] = await tokensOf(tenant);
    const as = { "x-user-id": "eve" };
    const call = (method: string, path: string, body?: unknown) =>
      tenant.call(method, path, body, as).then(({ status, body }) => [status, body]);
    const missing = [404, { detail: "OAuth token not found" }];
    expect(await tokensOf(tenant, "eve")).toEqual([]);
    expect(await call("GET", "/tokens/exists?provider_id=notes")).toEqual([
      200,
      { has_token: false },
    ]);
    expect(await call("DELETE", `/tokens/${token?.id}`)).toEqual(missing);
    expect(await call("PATCH", `/tokens/${token?.id}/metadata`, {})).toEqual(missing);
    const body = { provider: "notes", scopes: [], token_id: token?.id };
    expect(await call("POST", "/authenticate", body)).toEqual(missing);
    expect(await call("DELETE", "/tokens?provider_id=notes")).toEqual([200, {}]);
    expect(await call("GET", `/wait/${pending}?timeout=0`)).toMatchObject([
      200,
      { status: "not_found" },
    ]);
    const own = await tenant.call("GET", "/tokens/exists?provider_id=notes", undefined, {
      "x-user-id": "ada",
    });
    expect(own.body).toEqual({ has_token: true });
  });

  test("to one agent, or to all of the user's agents", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const own = await connect(tenant, "ada@one", { agent_id: "one" });
    expect((await authenticate(tenant, { agent_id: "one" })).token).toBe(own);
    expect((await authenticate(tenant, { agent_id: "two" })).status).toBe("pending");
    expect((await authenticate(tenant)).status).toBe("pending");
    const general = await connect(tenant, "ada@all");
    expect((await authenticate(tenant, { agent_id: "one" })).token).toBe(own);
    expect((await authenticate(tenant, { agent_id: "two" })).token).toBe(general);

    // Additional scopes of one agent do not apply to the others.
    await connect(tenant, "ada@two", { agent_id: "two", scopes: ["notes:write"] });
    expect((await authenticate(tenant, { scopes: ["notes:write"] })).status).toBe("pending");
    expect((await authenticate(tenant)).token).toBe(general);
    expect(await tokensOf(tenant)).toHaveLength(3);
  });
});
