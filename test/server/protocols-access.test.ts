import { Role } from "@a2a-js/sdk";
import { describe } from "vitest";
import { a2a, connectA2a } from "../support/a2a-clients.ts";
import { bearer } from "../support/bearer.ts";
import { type Answer, answerOf, send } from "../support/http.ts";
import { connectMcp } from "../support/mcp-clients.ts";
import { testWithServer, type TestServer } from "../support/server.ts";

const test = testWithServer({ AGENT_AUTH: "api-key" }, "custom-auth");

const ACCEPT = { accept: "application/json, text/event-stream" };

const DATA = { kind: "data", data: {} };
const MESSAGE = { kind: "message", messageId: "m", role: "user", parts: [DATA] };

const MISSING_TASK = `${crypto.randomUUID()}:${crypto.randomUUID()}`;

type User = string | { identity: string; rules: string };

/** The requests of the two protocols, and the event that each fires first. */
const REQUESTS: Record<
  string,
  [
    (server: TestServer, headers: Record<string, string>) => Promise<Omit<Answer, "headers">>,
    string,
  ]
> = {
  "tools/list": [
    (server, headers) => mcp(server, "tools/list", {}, headers),
    "assistants:search graph_id limit metadata offset",
  ],
  "tools/call": [
    (server, headers) => mcp(server, "tools/call", { name: "branching" }, headers),
    "threads:create_run after_seconds assistant_id if_not_exists kwargs metadata multitask_strategy prevent_insert_if_inflight run_id status thread_id",
  ],
  "message/send": [
    (server, headers) => a2a(server, "branching", "message/send", { message: MESSAGE }, headers),
    "threads:create_run after_seconds assistant_id if_not_exists kwargs metadata multitask_strategy prevent_insert_if_inflight run_id status thread_id",
  ],
  "message/stream": [
    (server, headers) =>
      a2a(server, "branching", "message/stream", { message: MESSAGE }, { ...headers, ...ACCEPT }),
    "threads:create_run after_seconds assistant_id if_not_exists kwargs metadata multitask_strategy prevent_insert_if_inflight run_id status thread_id",
  ],
  "tasks/get": [
    (server, headers) => a2a(server, "branching", "tasks/get", { id: MISSING_TASK }, headers),
    "threads:read run_id thread_id",
  ],
  "tasks/cancel": [
    (server, headers) => a2a(server, "branching", "tasks/cancel", { id: MISSING_TASK }, headers),
    "threads:read run_id thread_id",
  ],
  "tasks/resubscribe": [
    (server, headers) =>
      a2a(
        server,
        "branching",
        "tasks/resubscribe",
        { id: MISSING_TASK },
        { ...headers, ...ACCEPT },
      ),
    "threads:read run_id thread_id",
  ],
  ListTasks: [
    (server, headers) =>
      a2a(server, "branching", "ListTasks", { contextId: crypto.randomUUID() }, headers),
    "threads:search limit offset thread_id",
  ],
  "ListTasks of all contexts": [
    (server, headers) => a2a(server, "branching", "ListTasks", {}, headers),
    "threads:search limit metadata offset",
  ],
  "an agent card": [
    (server, headers) =>
      answerOf(
        send(server, "GET", "/a2a/branching/.well-known/agent-card.json", undefined, headers),
      ),
    "assistants:read assistant_id",
  ],
};

function mcp(server: TestServer, method: string, params: object, headers: Record<string, string>) {
  const message = { jsonrpc: "2.0", id: 1, method, params };
  return answerOf(send(server, "POST", "/mcp", message, { ...ACCEPT, ...headers }));
}

describe.for(Object.entries(REQUESTS))("%s", ([, [ask, event]]) => {
  test("authenticates the caller, and needs no key of the platform", async ({ server, expect }) => {
    const refusal = { status: 401, body: { detail: "Send a bearer token" } };
    for (const headers of [{}, { "x-api-key": "tw_x" }]) {
      expect(await ask(server, headers)).toEqual(refusal);
    }
  });

  test("calls the authorisation handlers with the resource that it is about", async ({
    server,
    expect,
  }) => {
    const headers = bearer({ identity: "asking", rules: "event" });
    expect(await ask(server, headers)).toEqual({ status: 418, body: { detail: event } });
  });

  test("has no effect for a caller whom a handler refuses", async ({ server, expect }) => {
    const headers = bearer({ identity: "refused", rules: "deny" });
    expect(await ask(server, headers)).toEqual({ status: 403, body: { detail: "Forbidden" } });
    const client = server.client({ headers: bearer({ identity: "refused", rules: "allow" }) });
    expect(await client.threads.count({ metadata: { owner: "refused" } })).toBe(0);
  });
});

describe("two users", () => {
  const as = (user: User) => bearer(user);

  test("see and call only the tools of their own assistants", async ({ server, expect }) => {
    const owner = server.client({ headers: as("owner") });
    const { assistant_id } = await owner.assistants.create({ graphId: "branching", name: "own" });
    const name = `own_${assistant_id.replaceAll("-", "")}`;
    const [theirs, others] = await Promise.all([
      connectMcp(server, as("owner")),
      connectMcp(server, as("other")),
    ]);
    expect((await theirs.listTools()).tools.map((tool) => tool.name)).toEqual([name]);
    expect((await others.listTools()).tools).toEqual([]);
    expect((await theirs.callTool(name, {})).isError).toBeUndefined();
    await expect(others.callTool(name, {})).rejects.toMatchObject({ code: -32602 });
    await Promise.all([theirs.close(), others.close()]);
  });

  test("are passed to the graphs of tools", async ({ server, expect }) => {
    const mcp = await connectMcp(server, as({ identity: "carol", rules: "allow" }));
    const { structuredContent } = await mcp.callTool("configurable", {});
    expect(structuredContent).toMatchObject({
      seen: { configurable: { langgraph_auth_user_id: "carol" } },
    });
    await mcp.close();
  });

  test("do not find each other's tasks", async ({ server, expect }) => {
    const owner = await connectA2a(server, "branching", as({ identity: "owner", rules: "allow" }));
    const part = { content: { $case: "data" as const, value: {} }, metadata: undefined };
    const task = await owner.sendMessage({
      tenant: "",
      configuration: undefined,
      metadata: undefined,
      message: {
        messageId: "m",
        contextId: "",
        taskId: "",
        role: Role.ROLE_USER,
        parts: [{ ...part, filename: "", mediaType: "" }],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
    });
    const id = "id" in task ? task.id : "";
    const [threadId = ""] = id.split(":");
    const client = server.client({ headers: as({ identity: "owner", rules: "allow" }) });
    await client.threads.update(threadId, { metadata: { owner: "owner" } });
    const missing = { error: { code: -32001, message: "Task not found" } };
    for (const method of ["tasks/get", "tasks/cancel", "tasks/resubscribe"]) {
      const theirs = await a2a(server, "branching", method, { id }, { ...as("other"), ...ACCEPT });
      expect(theirs).toMatchObject({ status: 200, body: missing });
    }
    for (const list of [{ contextId: threadId }, {}]) {
      expect(await a2a(server, "branching", "ListTasks", list, as("other"))).toMatchObject({
        body: { result: { totalSize: 0 } },
      });
      expect(await a2a(server, "branching", "ListTasks", list, as("owner"))).toMatchObject({
        body: { result: { totalSize: 1, tasks: [{ id }] } },
      });
    }
    const own = await a2a(server, "branching", "tasks/get", { id }, as("owner"));
    expect(own).toMatchObject({ body: { result: { id, status: { state: "completed" } } } });
    const message = { ...MESSAGE, contextId: threadId };
    const beside = await a2a(server, "branching", "message/send", { message }, as("other"));
    expect(beside.status).toBe(409);
  });
});
