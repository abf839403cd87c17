import { bearer } from "../support/bearer.ts";
import { answerOf, send } from "../support/http.ts";
import { testWithServer } from "../support/server.ts";

const test = testWithServer({ AGENT_AUTH: "api-key" }, "authenticated");

test("a project that disables both protocols answers as if they did not exist", async ({
  server,
  expect,
}) => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const headers = { ...bearer("user"), accept: "application/json, text/event-stream" };
  for (const [method, path, body] of [
    ["POST", "/mcp", ping],
    ["POST", "/mcp/", ping],
    ["POST", "/a2a/configurable", ping],
    ["GET", "/a2a/configurable/.well-known/agent-card.json", undefined],
    ["GET", "/.well-known/agent-card.json?assistant_id=configurable", undefined],
  ] as const) {
    const answer = await answerOf(send(server, method, path, body, headers));
    expect([path, answer]).toEqual([path, { status: 404, body: { detail: "Not Found" } }]);
  }
});
