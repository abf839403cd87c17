import { describe, test } from "vitest";
import { authorizationUrl } from "../../../../src/control-plane/oauth/authorization-url.ts";

const REQUEST = {
  state: "the state",
  redirectUri: "https://platform.example/v2/auth/callback/notes",
  scopes: ["a:read", "b"],
  codeChallenge: null,
};

function queryOf(url: string): Record<string, string> {
  return Object.fromEntries(new URL(url).searchParams);
}

describe("authorizationUrl", () => {
  const provider = { auth_url: "https://notes.example/auth", client_id: "c&d", resource: null };

  test("requests a code", ({ expect }) => {
    const url = authorizationUrl({ ...provider, provider_type: null }, REQUEST);
    expect(new URL(url).pathname).toBe("/auth");
    expect(queryOf(url)).toEqual({
      response_type: "code",
      client_id: "c&d",
      redirect_uri: REQUEST.redirectUri,
      state: "the state",
      scope: "a:read b",
    });
  });

  test("has no scope if none is requested, and a challenge with PKCE", ({ expect }) => {
    const request = { ...REQUEST, scopes: [], codeChallenge: "x" };
    const query = queryOf(authorizationUrl({ ...provider, provider_type: null }, request));
    expect(query["scope"]).toBeUndefined();
    expect(query).toMatchObject({ code_challenge: "x", code_challenge_method: "S256" });
  });

  test("has the resource that the token is for", ({ expect }) => {
    const mcp = { ...provider, provider_type: null, resource: "https://mcp.example/notes" };
    expect(queryOf(authorizationUrl(mcp, REQUEST))["resource"]).toBe("https://mcp.example/notes");
  });

  test("asks Slack for user scopes, separated by commas", ({ expect }) => {
    const slack = {
      ...provider,
      auth_url: "https://slack.com/oauth/v2/authorize?team=T1",
      provider_type: "slack",
    } as const;
    const query = queryOf(authorizationUrl(slack, REQUEST));
    expect(query).toMatchObject({ user_scope: "a:read,b", team: "T1" });
    expect(query["scope"]).toBeUndefined();
  });
});
