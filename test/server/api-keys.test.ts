import { Client } from "langsmith";
import { describe } from "vitest";
import { send } from "../support/http.ts";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { MISSING_ID, UUID } from "../support/uuid.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspaces.ts";

const test = testWithSharedServer().extend(
  "workspace",
  async ({ server }): Promise<TestWorkspace> => makeWorkspace(server, "keys", "plus"),
);

const PATH = "/api/v1/api-key";

type Key = { id: string; key: string; short_key: string; description: string };

/** Sends a request with a key. Throws with the status when it does not succeed. */
async function ask<T>(
  server: TestServer,
  apiKey: string,
  ...[method, path, sent]: [string, string, unknown?]
): Promise<T> {
  const { status, body } = await send(server, method, path, sent, { "x-api-key": apiKey });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body as T;
}

describe("API keys", () => {
  test("are created, shown once, listed and used by the official client", async ({
    server,
    workspace,
    expect,
  }) => {
    const made = await ask<Key>(server, workspace.apiKey, "POST", PATH, { description: "CI" });
    expect(made).toEqual({
      id: expect.stringMatching(UUID),
      key: expect.stringMatching(/^tw_us_[\w-]{43}$/),
      short_key: `${made.key.slice(0, 14)}...`,
      description: "CI",
      read_only: false,
      created_at: expect.any(String),
      last_used_at: null,
      expires_at: null,
    });
    const client = new Client({ apiUrl: `${server.url}/api/v1`, apiKey: made.key });
    await client.createProject({ projectName: "of the new key" });

    const listed = await ask<Key[]>(server, made.key, "GET", PATH);
    expect(listed.map(({ description }) => description)).toEqual(["keys", "CI"]);
    expect(JSON.stringify(listed)).not.toContain(made.key);
    const defaults = await ask<Key>(server, made.key, "POST", PATH, {});
    expect(defaults.description).toBe("Default API key");
  });

  test("stop working when revoked, and cannot create others", async ({
    server,
    workspace,
    expect,
  }) => {
    const { id, key } = await ask<Key>(server, workspace.apiKey, "POST", PATH, {});
    // From here on the isolate has the key in its cache.
    await ask(server, key, "GET", "/api/v1/workspaces/current");
    const revoked = await ask<Key>(server, workspace.apiKey, "DELETE", `${PATH}/${id}`);
    expect(revoked.id).toBe(id);
    await expect(ask(server, key, "POST", PATH, {})).rejects.toThrow(/^401/);
    await expect(ask(server, key, "GET", PATH)).rejects.toThrow(/^401/);
    await expect(ask(server, workspace.apiKey, "DELETE", `${PATH}/${id}`)).rejects.toThrow(/^404/);
    const left = await ask<Key[]>(server, workspace.apiKey, "GET", PATH);
    expect(left.map((each) => each.id)).not.toContain(id);
  });

  test("cannot revoke themselves or keys that do not exist", async ({
    server,
    workspace,
    expect,
  }) => {
    const [own] = await ask<Key[]>(server, workspace.apiKey, "GET", PATH);
    await expect(ask(server, workspace.apiKey, "DELETE", `${PATH}/${own?.id}`)).rejects.toThrow(
      /^409.*cannot revoke itself/,
    );
    await expect(ask(server, workspace.apiKey, "DELETE", `${PATH}/${MISSING_ID}`)).rejects.toThrow(
      /^404/,
    );
    await ask(server, workspace.apiKey, "GET", PATH);
  });

  test("are refused with an unsupported field, whose name is in the error", async ({
    server,
    workspace,
    expect,
  }) => {
    for (const [field, value] of [
      ["expires_at", "2030-01-01T00:00:00Z"],
      ["read_only", true],
      ["role_id", MISSING_ID],
      ["workspaces", [MISSING_ID]],
      ["description", ""],
    ] as const) {
      const { status, body } = await send(
        server,
        "POST",
        PATH,
        { [field]: value },
        { "x-api-key": workspace.apiKey },
      );
      expect([status, JSON.stringify(body)]).toEqual([
        422,
        expect.stringContaining(`"loc":["body","${field}"]`),
      ]);
    }
  });

  test("are limited to a hundred, however many are created at once", async ({
    server,
    workspace,
    expect,
  }) => {
    const answers = await Promise.all(
      Array.from({ length: 110 }, () =>
        send(server, "POST", PATH, {}, { "x-api-key": workspace.apiKey }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted((left, right) => left - right);
    expect(statuses).toEqual([...Array(99).fill(200), ...Array(11).fill(409)]);
  });
});

describe("the current workspace", () => {
  test("shows its plan and its limits", async ({ server, workspace, expect }) => {
    const current = await ask(server, workspace.apiKey, "GET", "/api/v1/workspaces/current");
    const facts = {
      id: workspace.id,
      display_name: "keys",
      created_at: expect.any(String),
      is_personal: false,
      is_deleted: false,
      read_only: false,
    };
    expect(current).toEqual({
      ...facts,
      region: "us",
      plan: "plus",
      deployments: { count: 0, limit: 20 },
      exports_at_once: 15,
      rate_limits: null,
    });
    expect(await ask(server, workspace.apiKey, "GET", "/api/v1/workspaces")).toEqual([facts]);
  });
});
