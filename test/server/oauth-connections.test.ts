import { describe } from "vitest";
import {
  authenticate,
  connect,
  createProvider,
  follow,
  newTenant,
  testWithOAuth,
  tokensOf,
} from "../support/oauth.ts";
import { consent } from "../support/oauth-user.ts";
import { ISO_TIME, UUID } from "../support/uuid.ts";

const test = testWithOAuth();

const ADA = { "x-user-id": "ada" };

describe("an agent's connection", () => {
  test("is created, listed and removed by the user of the token", async ({
    oauth,
    tenant,
    expect,
  }) => {
    const { call } = tenant;
    await createProvider(tenant, oauth);
    await connect(tenant, "ada@notes");
    const [token] = await tokensOf(tenant);
    const body = { oauth_token_id: token?.id };
    const made = await call("POST", "/agents/helper/connections", body, ADA);
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.stringMatching(UUID),
        agent_id: "helper",
        oauth_token_id: token?.id,
        provider_id: "notes",
        provider_account_label: null,
        scopes: ["openid", "notes:read"],
        expires_at: expect.stringMatching(ISO_TIME),
        created_by: "ada",
        created_at: expect.stringMatching(ISO_TIME),
      },
    ]);
    const again = await call("POST", "/agents/helper/connections", body, ADA);
    expect(again.body).toEqual(made.body);
    const list = async (agent: string, headers: Record<string, string> = ADA) =>
      (await call("GET", `/agents/${agent}/connections`, undefined, headers)).body;
    expect(await list("helper")).toEqual({ data: [made.body] });
    expect(await list("other")).toEqual({ data: [] });
    expect(await list("helper", { "x-user-id": "bob" })).toEqual({ data: [] });

    const { id } = made.body as { id: string };
    const remove = (headers: Record<string, string>) =>
      call("DELETE", `/agents/helper/connections/${id}`, undefined, headers);
    expect((await remove({ "x-user-id": "bob" })).status).toBe(404);
    expect((await remove(ADA)).status).toBe(204);
    expect((await remove(ADA)).status).toBe(404);
    expect(await tokensOf(tenant)).toHaveLength(1);
  });

  test("cannot use another user's token", async ({ server, oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    await connect(tenant, "ada@notes");
    const [token] = await tokensOf(tenant);
    const body = { oauth_token_id: token?.id };
    const asked = async (of: typeof tenant, headers: Record<string, string>) =>
      (await of.call("POST", "/agents/helper/connections", body, headers)).status;
    expect(await asked(tenant, { "x-user-id": "bob" })).toBe(404);
    expect(await asked(await newTenant(server), ADA)).toBe(404);
    const wrong = { oauth_token_id: "no-id" };
    expect((await tenant.call("POST", "/agents/helper/connections", wrong, ADA)).status).toBe(422);
  });

  test("is deleted with its token", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    await connect(tenant, "ada@notes");
    const [token] = await tokensOf(tenant);
    const body = { oauth_token_id: token?.id };
    await tenant.call("POST", "/agents/helper/connections", body, ADA);
    await tenant.call("DELETE", `/tokens/${token?.id}`, undefined, ADA);
    const { body: left } = await tenant.call("GET", "/agents/helper/connections", undefined, ADA);
    expect(left).toEqual({ data: [] });
  });

  test("determines which of several accounts the agent uses", async ({ oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    await connect(tenant, "private@notes");
    const [own] = await tokensOf(tenant);
    await connect(tenant, "work@notes", { force_new: true });
    const userOf = async (agent_id: string) =>
      oauth.userOf((await authenticate(tenant, { agent_id })).token);
    expect(await userOf("helper")).toBe("work@notes");
    const body = { oauth_token_id: own?.id };
    await tenant.call("POST", "/agents/helper/connections", body, ADA);
    expect(await userOf("helper")).toBe("private@notes");
    expect(await userOf("other")).toBe("work@notes");
  });
});

test("a graph requests a token, interrupts for the user, and continues with the token", async ({
  server,
  oauth,
  expect,
}) => {
  const { apiKey, ...tenant } = await newTenant(server);
  await createProvider(tenant, oauth);
  const client = server.client({ apiKey });
  const { thread_id } = await client.threads.create();
  const body = { provider: "notes", scopes: ["openid"], user_id: "ada", agent_id: "helper" };
  const input = {
    request: {
      url: `${server.url}/v2/auth/authenticate`,
      headers: { "x-api-key": apiKey },
      body,
    },
    userInfo: `${new URL(oauth.authUrl).origin}/me`,
  };
  await client.runs.wait(thread_id, "connected", { input });
  const { tasks } = await client.threads.getState(thread_id);
  const asked = tasks[0]?.interrupts[0]?.value;
  const { url } = asked as { url: string };
  const { query } = await follow(await consent(url, "ada@notes"));
  expect(query["status"]).toBe("completed");
  const values = await client.runs.wait(thread_id, "connected", { command: { resume: true } });
  expect((values as { user: object }).user).toMatchObject({ sub: "ada@notes" });
  // The next thread gets the token at once.
  const next = await client.runs.wait(null, "connected", { input });
  expect((next as { user: object }).user).toMatchObject({ sub: "ada@notes" });
});

describe("the page that GitHub sends users to", () => {
  test("ends an attempt like a callback", async ({ server, oauth, tenant, expect }) => {
    await createProvider(tenant, oauth);
    const { url, auth_id: authId } = await authenticate(tenant);
    const callback = new URL(await consent(url, "ada@notes"));
    const query = `${callback.search}&setup_action=install&installation_id=5`;
    const setup = `${server.url}/v2/auth/setup/notes${query}`;
    expect((await fetch(setup, { method: "HEAD" })).status).toBe(405);
    expect(await follow(setup)).toMatchObject({
      query: { status: "completed", auth_id: authId },
    });
    expect(await follow(setup)).toMatchObject({ query: { error: "invalid_state" } });
  });

  test.for([
    ["update", { status: "completed", provider_id: "notes" }],
    ["install", { status: "completed", provider_id: "notes" }],
    ["request", { status: "failed", error: "access_denied" }],
  ] as const)(
    "reports a setup without an attempt: %s",
    async ([action, query], { server, expect }) => {
      const setup = `${server.url}/v2/auth/setup/notes?setup_action=${action}&installation_id=5`;
      expect(await follow(setup)).toMatchObject({ status: 302, query });
    },
  );

  test("is no setup without parameters", async ({ server, expect }) => {
    expect(await follow(`${server.url}/v2/auth/setup/notes`)).toMatchObject({
      query: { error: "invalid_state" },
    });
  });
});
