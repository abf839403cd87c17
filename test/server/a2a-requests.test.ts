import { describe } from "vitest";
import { a2a } from "../support/a2a-clients.ts";
import { answerOf, send } from "../support/http.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testInWorkspace();

const PART = { kind: "text", text: "hello" };
const MESSAGE = { kind: "message", messageId: "m", role: "user", parts: [PART] };

function codeOf({ body }: { body: unknown }): number | undefined {
  return (body as { error?: { code: number } }).error?.code;
}

describe("a request", () => {
  test.for([
    ["no params", undefined],
    ["no message", {}],
    ["a message without an id", { message: { ...MESSAGE, messageId: "" } }],
    ["an invalid role", { message: { ...MESSAGE, role: "root" } }],
    ["no parts", { message: { ...MESSAGE, parts: [] } }],
    ["too many parts", { message: { ...MESSAGE, parts: Array.from({ length: 101 }, () => PART) } }],
    ["a part that is null", { message: { ...MESSAGE, parts: [null] } }],
    ["a text that is a number", { message: { ...MESSAGE, parts: [{ kind: "text", text: 7 }] } }],
    ["a text that is missing", { message: { ...MESSAGE, parts: [{ kind: "text" }] } }],
    ["a file that is missing", { message: { ...MESSAGE, parts: [{ kind: "file" }] } }],
    ["data that is a list", { message: { ...MESSAGE, parts: [{ kind: "data", data: [] }] } }],
    ["too long a history", { message: MESSAGE, configuration: { historyLength: 11 } }],
    ["an invalid command", { message: MESSAGE, command: { goto: 7 } }],
  ] as const)("is refused with %s", async ([, params], { server, expect }) => {
    for (const method of ["message/send", "SendMessage"]) {
      const answer = await a2a(server, "appender", method, params);
      expect([answer.status, codeOf(answer)]).toEqual([200, -32602]);
    }
  });

  test("is refused if its method is not served", async ({ server, expect }) => {
    const methods = [
      "tasks/list",
      "CreateTaskPushNotificationConfig",
      "tasks/pushNotificationConfig/set",
      "agent/getAuthenticatedExtendedCard",
      "constructor",
    ];
    for (const method of methods) {
      const answer = await a2a(server, "appender", method, { id: "x" });
      expect([method, answer.status, codeOf(answer)]).toEqual([method, 200, -32601]);
    }
  });

  test.for([
    ["nothing", {}],
    ["null", null],
    ["a batch", [{ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } }]],
    ["another version of JSON-RPC", { jsonrpc: "1.0", id: 1, method: "GetTask" }],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "GetTask" }],
    ["a method that is a number", { jsonrpc: "2.0", id: 1, method: 7 }],
  ] as const)("is invalid if it is %s", async ([, body], { server, expect }) => {
    const answer = await send(server, "POST", "/a2a/appender", body);
    expect([answer.status, codeOf(answer)]).toEqual([400, -32600]);
  });

  test("for a stream is refused unless it accepts an event stream", async ({ server, expect }) => {
    for (const method of ["tasks/resubscribe", "SubscribeToTask"]) {
      const answer = await a2a(server, "appender", method, { id: "x" });
      expect([method, answer.status]).toEqual([method, 400]);
    }
    for (const method of ["message/stream", "SendStreamingMessage"]) {
      expect(await a2a(server, "appender", method, { message: MESSAGE })).toEqual({
        status: 400,
        body: { detail: "The header Accept must name text/event-stream" },
      });
      const accept = { accept: "text/event-stream" };
      const refused = await a2a(server, "appender", method, {}, accept);
      expect(codeOf(refused)).toBe(-32602);
      const unfit = await a2a(server, "zod_state", method, { message: MESSAGE }, accept);
      expect([unfit.status, codeOf(unfit)]).toEqual([200, -32005]);
    }
  });

  test("may have a command in place of message parts", async ({ server, expect }) => {
    const parts = [{ kind: "data", data: {} }];
    const asked = await a2a(server, "interrupts", "message/send", {
      message: { ...MESSAGE, parts },
    });
    const { id } = (asked.body as { result: { id: string } }).result;
    const message = { ...MESSAGE, taskId: id };
    const command = { resume: { from: "the command" } };
    const told = await a2a(server, "interrupts", "message/send", { message, command });
    expect(told.body).toMatchObject({
      result: {
        id,
        status: {
          state: "input-required",
          message: { parts: [{ data: { question: "second", first: command.resume } }] },
        },
      },
    });
  });

  test("gets a 404 for an assistant that does not exist", async ({ server, client, expect }) => {
    const { assistant_id } = await client.assistants.create({ graphId: "appender" });
    const { apiKey } = await makeWorkspace(server, "another");
    const theirs = { "x-api-key": apiKey };
    for (const [name, headers] of [
      ["nothing", {}],
      [crypto.randomUUID(), {}],
      [assistant_id, theirs],
    ] as const) {
      const asked = await a2a(server, name, "GetTask", { id: "x" }, headers);
      expect([name, asked.status]).toEqual([name, 404]);
      for (const path of [
        `/a2a/${name}/.well-known/agent-card.json`,
        `/.well-known/agent-card.json?assistant_id=${name}`,
      ]) {
        expect(await answerOf(send(server, "GET", path, undefined, headers))).toEqual({
          status: 404,
          body: { detail: "Assistant not found" },
        });
      }
    }
  });

  test("finds no task of another workspace", async ({ server, expect }) => {
    const sent = await a2a(server, "appender", "message/send", { message: MESSAGE });
    const { id, contextId } = (sent.body as { result: { id: string; contextId: string } }).result;
    const { apiKey } = await makeWorkspace(server, "another");
    const theirs = { "x-api-key": apiKey };
    for (const method of ["tasks/get", "tasks/cancel", "tasks/resubscribe"]) {
      const asking = { ...theirs, accept: "text/event-stream" };
      const answer = await a2a(server, "appender", method, { id }, asking);
      expect(codeOf(answer)).toBe(-32001);
    }
    const message = { ...MESSAGE, taskId: id };
    expect(codeOf(await a2a(server, "appender", "message/send", { message }, theirs))).toBe(-32001);
    const beside = { ...MESSAGE, contextId };
    const own = await a2a(server, "appender", "message/send", { message: beside }, theirs);
    expect(own.body).toMatchObject({
      result: { artifacts: [{ parts: [{ text: "reply 1 to: hello" }] }] },
    });
  });
});

describe("an agent card", () => {
  test("gives both families of clients the assistant's address", async ({
    server,
    client,
    expect,
  }) => {
    const { assistant_id } = await client.assistants.create({
      graphId: "appender",
      name: "Appender",
      description: "Appends.",
      metadata: { a2a: { input_modes: ["text/plain"], output_modes: [7] } },
    });
    const url = `${server.url}/a2a/${assistant_id}`;
    const modes = ["text/plain", "application/json"];
    for (const path of [
      `/a2a/${assistant_id}/.well-known/agent-card.json`,
      `/.well-known/agent-card.json?assistant_id=${assistant_id}`,
    ]) {
      expect(await answerOf(send(server, "GET", path))).toMatchObject({
        status: 200,
        body: {
          name: "Appender",
          description: "Appends.",
          version: "1",
          url,
          protocolVersion: "0.3.0",
          preferredTransport: "JSONRPC",
          supportedInterfaces: [
            { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
            { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
          ],
          capabilities: { streaming: true, pushNotifications: false },
          defaultInputModes: ["text/plain"],
          defaultOutputModes: modes,
          skills: [{ id: assistant_id, name: "Appender", description: "Appends." }],
        },
      });
    }
    expect(await send(server, "GET", "/.well-known/agent-card.json")).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "assistant_id"], type: "missing" }] },
    });
  });
});
