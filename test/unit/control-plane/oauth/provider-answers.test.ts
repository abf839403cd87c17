import { describe, test } from "vitest";
import {
  accountLabel,
  standardAnswer,
  tokenMetadata,
} from "../../../../src/control-plane/oauth/provider-answers.ts";

describe("standardAnswer", () => {
  test("drops the ID token and empty members", ({ expect }) => {
    const body = {
      access_token: "t",
      token_type: "Bearer",
      id_token: "i",
      scope: "",
      refresh_token: null,
    };
    expect(standardAnswer({ status: 200, body }, null)).toEqual({
      status: 200,
      body: { access_token: "t", token_type: "Bearer" },
    });
  });

  test("joins a list of scopes, and assumes a bearer token without a type", ({ expect }) => {
    const body = { access_token: "t", scope: ["a", "b"] };
    expect(standardAnswer({ status: 200, body }, null)).toEqual({
      status: 200,
      body: { access_token: "t", scope: "a b", token_type: "bearer" },
    });
  });

  test.for([
    [200, { error: "bad_verification_code", error_description: "Old" }, null, 400],
    [200, { ok: false, error: "invalid_code" }, "slack", 400],
    [200, { ok: false, error: "ratelimited" }, "slack", 503],
    [401, { error: "invalid_client" }, null, 401],
    [500, { error: "server_error" }, null, 500],
  ] as const)(
    "with status %i and %j at %s has status %i",
    ([status, body, type, seen], { expect }) => {
      const answer = standardAnswer({ status, body }, type);
      expect(answer.status).toBe(seen);
      expect(answer.body).toMatchObject({ error: body.error });
    },
  );

  test.for([[null], ["text"], [7], [[{ access_token: "t" }]], [undefined]] as const)(
    "does not change %j",
    ([body], { expect }) => {
      expect(standardAnswer({ status: 200, body }, "slack")).toEqual({ status: 200, body });
    },
  );

  const SLACK = {
    ok: true,
    access_token: "xoxb-bot",
    token_type: "bot",
    scope: "commands",
    team: { id: "T1", name: "Acme" },
    authed_user: {
      id: "U1",
      access_token: "xoxp-user",
      token_type: "user",
      scope: "chat:write,users:read",
      refresh_token: "xoxe-1",
      expires_in: 43_200,
    },
  };

  test("returns Slack's user token, not the bot's", ({ expect }) => {
    expect(standardAnswer({ status: 200, body: SLACK }, "slack").body).toMatchObject({
      access_token: "xoxp-user",
      token_type: "bearer",
      scope: "chat:write,users:read",
      refresh_token: "xoxe-1",
      expires_in: 43_200,
    });
    const refreshed = { ok: true, access_token: "xoxe.xoxp-2", token_type: "user", team: {} };
    expect(standardAnswer({ status: 200, body: refreshed }, "slack").body).toMatchObject({
      access_token: "xoxe.xoxp-2",
      token_type: "bearer",
    });
  });

  test("returns the user, and other values that a client needs", ({ expect }) => {
    expect(accountLabel(SLACK, "slack")).toBe("Acme");
    expect(accountLabel(SLACK, null)).toBeNull();
    expect(tokenMetadata(SLACK, "slack")).toEqual({
      team_id: "T1",
      team_name: "Acme",
      user_id: "U1",
    });
    const salesforce = { instance_url: "https://acme.my.salesforce.com", id: "https://x" };
    expect(tokenMetadata(salesforce, "salesforce")).toEqual({
      instance_url: "https://acme.my.salesforce.com",
    });
    expect(tokenMetadata({ instance_url: 7 }, "salesforce")).toBeNull();
    expect(tokenMetadata(salesforce, null)).toBeNull();
  });
});
