import { describe } from "vitest";
import { ensureLocalWorkspace } from "../../cli/database/identity.ts";
import { answerOf, send } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";

const WORKSPACE = "5f4f4c43-1d0e-4b5e-9a3c-2d3b8f6f2b11";

const test = testWithServer({ AGENT_WORKSPACE_ID: WORKSPACE }, "authenticated");

type Seen = { seen: { configurable: { agent_auth_user: { identity: string; calls: number } } } };

/** Returns the user that a node sees; `calls` is the number of calls of the handler so far. */
async function userOf(server: TestServer, authorization: string) {
  const run = { assistant_id: "configurable", input: {} };
  const { body } = await send(server, "POST", "/runs/wait", run, { authorization });
  const { identity, calls } = (body as Seen).seen.configurable.agent_auth_user;
  return [identity, calls];
}

describe("a project that only authenticates", () => {
  test("caches users by the headers that it names, and as many as it says", async ({
    server,
    expect,
  }) => {
    expect(await userOf(server, "ann")).toEqual(["ann", 1]);
    expect(await userOf(server, "ann")).toEqual(["ann", 1]);
    expect(await userOf(server, "ben")).toEqual(["ben", 2]);
    expect(await userOf(server, "ann")).toEqual(["ann", 1]);
    expect(await userOf(server, "cleo")).toEqual(["cleo", 3]);
    expect(await userOf(server, "ann")).toEqual(["ann", 1]);
    expect(await userOf(server, "ben")).toEqual(["ben", 4]);
  });

  test("lets every known user see everything, and nobody else", async ({ server, expect }) => {
    const [ann, ben] = ["ann", "ben"].map((authorization) =>
      server.client({ headers: { authorization } }),
    );
    const thread = await ann?.threads.create({ metadata: { note: 1 } });
    expect(await ben?.threads.get(thread?.thread_id ?? "")).toEqual(thread);
    expect(await answerOf(send(server, "POST", "/threads/search", {}))).toEqual({
      status: 401,
      body: { detail: "Unauthorized" },
    });
  });

  test("refuses the Studio when it says so", async ({ server, expect }) => {
    const apiKey = "tw_a-key-of-the-workspace";
    await ensureLocalWorkspace(server.database, { workspaceId: WORKSPACE, apiKey });
    const headers = { "x-auth-scheme": "langsmith", "x-api-key": apiKey };
    expect(await answerOf(send(server, "POST", "/threads/search", {}, headers))).toEqual({
      status: 401,
      body: { detail: "Unauthorized" },
    });
  });
});
