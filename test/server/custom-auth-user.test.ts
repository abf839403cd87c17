import { describe, vi } from "vitest";
import { ensureLocalWorkspace } from "../../cli/database/identity.ts";
import { bearer } from "../support/bearer.ts";
import { answerOf, send } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { STREAM_MODES } from "../../src/graph-runtime/protocol.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const WORKSPACE = "0d2f62d3-9a4e-4b3c-8a53-7c9f1c1f8a55";
const KEY = "tw_a-key-of-the-workspace-of-the-deployment";

const test = testWithServer(
  { AGENT_AUTH: "api-key", AGENT_WORKSPACE_ID: WORKSPACE },
  "custom-auth",
);

type Seen = { seen: { configurable: Record<string, unknown> } };

const CAROL = { identity: "carol", permissions: ["read"], org: { id: 7 }, rules: "allow" };

const WHOLE_CAROL = { ...CAROL, display_name: "carol", is_authenticated: true };

const CAROLS_KEYS = {
  agent_auth_user: WHOLE_CAROL,
  langgraph_auth_user: WHOLE_CAROL,
  langgraph_auth_user_id: "carol",
  langgraph_auth_permissions: ["read"],
};

/** No other value contains this text, so it shows where the user leaks. */
const MARKED = { identity: "marked-7f3a", mark: "marked-7f3a", rules: "allow" };

const hello = { input: { messages: [{ role: "user", content: "hello" }] } };

describe("the user who asks for a run", () => {
  test("is visible to the graph's nodes, with or without a thread", async ({ server, expect }) => {
    const client = server.client({ headers: bearer(CAROL) });
    const { thread_id } = await client.threads.create();
    for (const thread of [thread_id, null]) {
      const values = thread
        ? await client.runs.wait(thread, "configurable", { input: {} })
        : await client.runs.wait(null, "configurable", { input: {} });
      expect((values as Seen).seen.configurable).toMatchObject(CAROLS_KEYS);
    }
  });

  test("is visible to functions that make graphs", async ({ server, expect }) => {
    const client = server.client({ headers: bearer(CAROL) });
    expect(await client.runs.wait(null, "made_for_user", { input: {} })).toEqual({
      made_for: "carol",
    });
  });

  test("is its creator, also when the run waits behind another user's", async ({
    server,
    expect,
  }) => {
    const [first, second] = [CAROL, { identity: "dave", rules: "allow" }].map((user) =>
      server.client({ headers: bearer(user) }),
    );
    if (first === undefined || second === undefined) throw new Error("There are two clients");
    const { thread_id } = await first.threads.create();
    const slow = { steps: 3, delay_ms: 100, label: "x" };
    const ahead = await first.runs.create(thread_id, "slow", { input: slow });
    const queued = await second.runs.create(thread_id, "configurable", { input: {} });
    const values = (await first.runs.join(thread_id, queued.run_id)) as Seen;
    expect(values.seen.configurable).toMatchObject({ langgraph_auth_user_id: "dave" });
    expect((await first.runs.get(thread_id, ahead.run_id)).status).toBe("success");
  });

  test("is neither taken from the client's fields nor from the assistant's", async ({
    server,
    expect,
  }) => {
    const client = server.client({ headers: bearer(CAROL) });
    const configurable = {
      agent_auth_user: { identity: "root" },
      langgraph_auth_user: { identity: "root" },
      langgraph_auth_user_id: "root",
      langgraph_auth_permissions: ["*"],
      own: 1,
    };
    const config = { configurable };
    const { assistant_id } = await client.assistants.create({ graphId: "configurable", config });
    const values = (await client.runs.wait(null, assistant_id, { input: {}, config })) as Seen;
    expect(values.seen.configurable).toMatchObject({ ...CAROLS_KEYS, own: 1 });
    expect(JSON.stringify(values)).not.toContain("root");
  });

  test("is in no answer about the run or its thread", async ({ server, expect }) => {
    const headers = bearer(MARKED);
    const client = server.client({ headers });
    const { thread_id } = await client.threads.create();
    const created = await client.runs.create(thread_id, "slow", {
      input: { steps: 3, delay_ms: 50, label: "x" },
    });
    const answers: unknown[] = [created, await client.runs.get(thread_id, created.run_id)];
    answers.push(await client.runs.list(thread_id), await client.threads.get(thread_id));
    await client.runs.join(thread_id, created.run_id);
    for (const path of ["", "/state?subgraphs=1", "/history", "/runs", `/runs/${created.run_id}`]) {
      const answer = await send(server, "GET", `/threads/${thread_id}${path}`, undefined, headers);
      expect([path, answer.status]).toEqual([path, 200]);
      answers.push(answer.body);
    }
    answers.push(await client.threads.search({ ids: [thread_id] }));
    expect(JSON.stringify(answers)).not.toContain(MARKED.mark);
  });

  test("is in no event of any stream mode", async ({ server, expect }) => {
    const headers = bearer(MARKED);
    for (const graph of ["appender", "branching"]) {
      for (const mode of STREAM_MODES) {
        const body = {
          assistant_id: graph,
          ...hello,
          stream_mode: [mode],
          stream_subgraphs: true,
          if_not_exists: "create",
        };
        const path = `/threads/${crypto.randomUUID()}/runs/stream`;
        const { status, body: events } = await send(server, "POST", path, body, headers);
        expect([mode, status]).toEqual([mode, 200]);
        expect([mode, String(events).includes("event: metadata")]).toEqual([mode, true]);
        expect([mode, String(events).includes(MARKED.mark)]).toEqual([mode, false]);
      }
    }
  });

  test("is in no trace", async ({ server, expect }) => {
    await workspaceKey(server);
    const client = server.client({ headers: bearer(MARKED) });
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "branching", { input: {} });
    await client.runs.join(thread_id, run.run_id);
    const query = {
      trace: run.run_id,
      select: ["id", "end_time", "inputs", "outputs", "extra", "events", "tags", "serialized"],
    };
    const runs = await vi.waitUntil(
      async () => {
        const path = "/api/v1/runs/query";
        const { body } = await send(server, "POST", path, query, { "x-api-key": KEY });
        const { runs = [] } = body as { runs?: { id: string; end_time: string | null }[] };
        return runs.length > 1 && runs.every(({ end_time }) => end_time !== null) ? runs : null;
      },
      { timeout: 150_000, interval: 100 },
    );
    expect(runs.map(({ id }) => id)).toContain(run.run_id);
    expect(JSON.stringify(runs)).toContain("thread_id");
    expect(JSON.stringify(runs)).not.toContain(MARKED.mark);
  });
});

async function workspaceKey(server: TestServer): Promise<string> {
  await ensureLocalWorkspace(server.database, { workspaceId: WORKSPACE, apiKey: KEY });
  return KEY;
}

const STUDIO = { "x-auth-scheme": "langsmith" };

describe("a user of the Studio", () => {
  test("is admitted by a key of the workspace, and passes the handlers", async ({
    server,
    expect,
  }) => {
    const headers = { ...STUDIO, "x-api-key": await workspaceKey(server) };
    const run = { assistant_id: "configurable", input: {} };
    const { status, body } = await send(server, "POST", "/runs/wait", run, headers);
    expect(status).toBe(200);
    const { seen } = body as Seen;
    expect(seen.configurable["agent_auth_user"]).toEqual({
      kind: "StudioUser",
      identity: "langgraph-studio-user",
      display_name: "langgraph-studio-user",
      is_authenticated: true,
      permissions: [],
    });
    const thread = await send(server, "POST", "/threads", {}, headers);
    expect(thread.body).toMatchObject({ metadata: { owner: "langgraph-studio-user" } });
  });

  test("is refused without a key, with a wrong one or with a token of the project", async ({
    server,
    expect,
  }) => {
    await workspaceKey(server);
    const asking = (headers: Record<string, string>) =>
      answerOf(send(server, "POST", "/threads/search", {}, { ...STUDIO, ...headers }));
    const missing = "Missing API key: send it as X-Api-Key";
    for (const headers of [{}, bearer("alice"), { authorization: `Bearer ${KEY}` }]) {
      expect(await asking(headers)).toEqual({ status: 401, body: { detail: missing } });
    }
    expect(await asking({ "x-api-key": "tw_wrong" })).toEqual({
      status: 401,
      body: { detail: "Invalid API key" },
    });
    const other = await makeWorkspace(server, "of somebody else");
    expect(await asking({ "x-api-key": other.apiKey })).toEqual({
      status: 403,
      body: { detail: "The API key belongs to another workspace than this deployment" },
    });
  });
});
