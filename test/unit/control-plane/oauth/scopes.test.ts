import { describe, test } from "vitest";
import {
  coversScopes,
  parseScopes,
  scopesToAsk,
} from "../../../../src/control-plane/oauth/scopes.ts";

describe("parseScopes", () => {
  test.for([
    ["", []],
    ["  a  b ", ["a", "b"]],
    ["repo,gist", ["repo", "gist"]],
    ["a, b\tc\nd", ["a", "b", "c", "d"]],
  ] as const)("reads %j", ([text, scopes], { expect }) => {
    expect(parseScopes(text)).toEqual(scopes);
  });
});

describe("coversScopes", () => {
  const graph = "https://graph.microsoft.com/";
  const google = "https://www.googleapis.com/auth/userinfo.";
  test.for([
    [["a", "b"], ["b"], null, true],
    [["a"], ["a", "b"], null, false],
    [[], [], null, true],
    [["A"], ["a"], null, false],
    [["a"], ["a", "offline_access"], null, true],
    [[`${google}email`, `${google}profile`], ["email", "profile"], null, true],
    [["email"], [`${google}email`], null, true],
    [["openid"], ["email"], null, false],
    [[`${graph}User.Read`], ["user.read", "openid", "profile", "email"], "microsoft", true],
    [["User.Read"], [`${graph}Mail.Send`], "microsoft", false],
    [[`${graph}User.Read`], ["User.Read"], null, false],
    [[], ["openid"], "slack", false],
  ] as const)("returns for %j and %j at %s: %j", ([granted, needed, type, covers], { expect }) => {
    expect(coversScopes(granted, needed, type)).toBe(covers);
  });
});

describe("scopesToAsk", () => {
  test("includes the scopes of the token that is replaced", ({ expect }) => {
    expect(scopesToAsk(["b", "c"], ["a", "b"], null)).toEqual(["b", "c", "a"]);
  });

  test("requests a refresh token from Microsoft", ({ expect }) => {
    expect(scopesToAsk(["User.Read"], [], "microsoft")).toEqual(["User.Read", "offline_access"]);
    expect(scopesToAsk(["offline_access"], [], "microsoft")).toEqual(["offline_access"]);
  });
});
