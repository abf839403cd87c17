import { describe, test } from "vitest";
import { integrationOf } from "../../../../src/control-plane/integrations/github-integration.ts";

const ONE = "11111111-0000-4000-8000-000000000000";
const OTHER = "22222222-0000-4000-8000-000000000000";
const SETTINGS = {
  githubApiUrl: "https://api.git.test",
  githubToken: "token",
  githubTokenWorkspaces: [ONE],
};

describe("the account of an installation", () => {
  test("exists for the named workspaces only", ({ expect }) => {
    expect(integrationOf(SETTINGS, ONE)?.host).toEqual({
      apiUrl: "https://api.git.test",
      token: "token",
      tokenName: "GITHUB_INTEGRATION_TOKEN",
    });
    expect(integrationOf(SETTINGS, OTHER)).toBe(null);
    expect(integrationOf({ ...SETTINGS, githubTokenWorkspaces: [] }, ONE)).toBe(null);
    expect(integrationOf({ ...SETTINGS, githubToken: "" }, ONE)).toBe(null);
  });

  test("has a stable id, which differs between workspaces", ({ expect }) => {
    const all = { ...SETTINGS, githubTokenWorkspaces: ["*"] };
    const [first, again, other] = [ONE, ONE, OTHER].map((id) => integrationOf(all, id)?.id);
    expect(first).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });
});
