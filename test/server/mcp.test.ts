import { describe, vi } from "vitest";
import { connectMcp, connectMcpV2, type McpClient } from "../support/mcp-clients.ts";
import { send, toAnswer } from "../support/http.ts";
import type { TestServer } from "../support/server.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testInWorkspace();

const CLIENTS = [
  ["of the first generation", "2025-11-25", connectMcp],
  ["of the second generation", "2026-07-28", connectMcpV2],
] as const;

const ACCEPT = { accept: "application/json, text/event-stream" };

async function allTools(client: McpClient) {
  const first = await client.listTools();
  const tools = [...first.tools];
  for (let cursor = first.nextCursor; cursor !== undefined;) {
    const page = await client.listTools(cursor);
    tools.push(...page.tools);
    cursor = page.nextCursor;
  }
  return tools;
}

function rpc(server: TestServer, method: string, params: object = {}) {
  return send(server, "POST", "/mcp/", { jsonrpc: "2.0", id: 1, method, params }, ACCEPT);
}

describe.for(CLIENTS)("a client %s", ([, version, connect]) => {
  test("negotiates the newest revision that it knows", async ({ server, expect }) => {
    const client = await connect(server);
    expect(client.protocolVersion).toBe(version);
    await client.close();
  });

  test("finds each graph as a tool", async ({ server, expect }) => {
    const client = await connect(server);
    const tools = await allTools(client);
    const graphs = (await (
      await server.fetch("/assistants/search", { method: "POST" })
    ).json()) as [];
    expect(tools.length).toBeGreaterThan(graphs.length);
    expect(tools.find(({ name }) => name === "zod_state")).toMatchObject({
      name: "zod_state",
      title: "zod_state",
      inputSchema: {
        type: "object",
        properties: {
          question: { type: "string", description: "What to answer" },
          context: { type: "object", properties: { tone: { enum: ["plain", "polite"] } } },
        },
      },
    });
    expect(tools.find(({ name }) => name === "agent")).toMatchObject({
      description: "Calls a tool, then answers.",
      inputSchema: {
        properties: {
          messages: {
            type: "array",
            items: { properties: { role: { type: "string" }, content: { type: "string" } } },
          },
        },
      },
    });
    await client.close();
  });

  test("gets the final values of a run as text and as structured content", async ({
    server,
    expect,
  }) => {
    const client = await connect(server);
    const args = { question: "why?", context: { tone: "polite" } };
    const { content, structuredContent, isError } = await client.callTool("zod_state", args);
    const values = { question: "why?", answer: "If you please: why?", words: 1 };
    expect([structuredContent, isError]).toEqual([values, undefined]);
    expect(content.map(({ type, text = "" }) => [type, JSON.parse(text)])).toEqual([
      ["text", values],
    ]);
    await client.close();
  });

  test("gets the failure of a run as a tool error", async ({ server, expect }) => {
    const client = await connect(server);
    expect(await client.callTool("throws", { message: "boo" })).toMatchObject({
      content: [{ type: "text", text: "FixtureError: boo" }],
      isError: true,
    });
    const invalid = await client.callTool("zod_state", { question: 7 });
    expect(invalid).toMatchObject({ isError: true });
    await client.close();
  });

  test("gets an error for an interrupt, which a tool's caller cannot answer", async ({
    server,
    expect,
  }) => {
    const client = await connect(server);
    const { content, isError } = await client.callTool("interrupts", {});
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/^The run waits for an answer, .*"question":"first"/);
    await client.close();
  });

  test("gets an error for an unknown tool", async ({ server, expect }) => {
    const client = await connect(server);
    const names = ["nothing", "no tool's name", `x_${"0".repeat(32)}`];
    for (const name of names) {
      await expect(client.callTool(name, {})).rejects.toMatchObject({ code: -32602 });
    }
    await client.close();
  });

  test("calls an assistant by its listed name", async ({ server, client, expect }) => {
    const mcp = await connect(server);
    const { assistant_id } = await client.assistants.create({
      graphId: "zod_state",
      name: "Polite helper!",
      description: "Answers politely.",
      context: { tone: "polite" },
    });
    const tools = await allTools(mcp);
    const tool = tools.find(({ name }) => name.endsWith(assistant_id.replaceAll("-", "")));
    expect(tool).toMatchObject({ title: "Polite helper!", description: "Answers politely." });
    expect(tool?.name).toMatch(/^Polite_helper__[0-9a-f]{32}$/);
    const result = await mcp.callTool(tool?.name ?? "", { question: "why?" });
    expect(result.structuredContent).toMatchObject({ answer: "If you please: why?" });
    await mcp.close();
  });
});

describe("tools", () => {
  test("are listed in pages", async ({ server, expect }) => {
    const { apiKey } = await makeWorkspace(server, "many tools");
    const client = server.client({ apiKey });
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        client.assistants.create({ graphId: "zod_state", name: `number ${index}` }),
      ),
    );
    const mcp = await connectMcp(server, { "x-api-key": apiKey });
    const page = await mcp.listTools();
    expect(page).toMatchObject({ nextCursor: "50" });
    expect(page.tools).toHaveLength(50);
    const tools = await allTools(mcp);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(tools).toHaveLength(await client.assistants.count());
    for (const cursor of ["-1", "x", "1e3"]) {
      await expect(mcp.listTools(cursor)).rejects.toMatchObject({ code: -32602 });
    }
    await mcp.close();
  });

  test("of another workspace are not available", async ({ server, client, expect }) => {
    const { assistant_id } = await client.assistants.create({ graphId: "zod_state", name: "own" });
    const { apiKey } = await makeWorkspace(server, "another");
    const mcp = await connectMcp(server, { "x-api-key": apiKey });
    const name = `own_${assistant_id.replaceAll("-", "")}`;
    expect((await allTools(mcp)).map((tool) => tool.name)).not.toContain(name);
    await expect(mcp.callTool(name, { question: "?" })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(`Unknown tool: ${name}`),
    });
    await mcp.close();
  });

  test("leave no thread behind", async ({ server, client, expect }) => {
    const { apiKey } = await makeWorkspace(server, "no threads");
    const mcp = await connectMcp(server, { "x-api-key": apiKey });
    await mcp.callTool("zod_state", { question: "?" });
    expect(await server.client({ apiKey }).threads.count()).toBe(0);
    expect(await client.threads.count()).toBe(0);
    await mcp.close();
  });
});

describe("the MCP endpoint", () => {
  test.for(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "speaks %s",
    async (protocolVersion, { server, expect }) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: "x", version: "1" } };
      const { status, body, headers } = await rpc(server, "initialize", params);
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe("application/json");
      expect(body).toMatchObject({
        jsonrpc: "2.0",
        id: 1,
        result: {
          protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "threadworks" },
        },
      });
    },
  );

  test("answers a ping, and offers its own version to a client with an unknown one", async ({
    server,
    expect,
  }) => {
    expect(await rpc(server, "ping")).toMatchObject({ status: 200, body: { id: 1, result: {} } });
    const params = {
      protocolVersion: "1.0",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    };
    expect(await rpc(server, "initialize", params)).toMatchObject({
      status: 200,
      body: { result: { protocolVersion: "2025-11-25" } },
    });
  });

  test("accepts notifications without an answer", async ({ server, expect }) => {
    const message = { jsonrpc: "2.0", method: "notifications/initialized" };
    const { status, body } = await send(server, "POST", "/mcp", message, ACCEPT);
    expect([status, body]).toEqual([202, ""]);
  });

  test("has no sessions that could be read or ended", async ({ server, expect }) => {
    for (const path of ["/mcp", "/mcp/"]) {
      expect(await send(server, "GET", path, undefined, ACCEPT)).toMatchObject({
        status: 405,
        body: { detail: "Method Not Allowed" },
      });
      expect(await send(server, "DELETE", path)).toMatchObject({
        status: 404,
        body: { detail: "There are no sessions to end" },
      });
    }
  });

  test("requires that both kinds of answers are accepted", async ({ server, expect }) => {
    for (const accept of ["*/*", "application/json", "text/event-stream"]) {
      const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
      expect(await send(server, "POST", "/mcp", ping, { accept })).toMatchObject({
        status: 400,
        body: { detail: "The header Accept must name application/json and text/event-stream" },
      });
    }
  });

  test.for([
    ["nothing", {}],
    ["null", null],
    ["text", "ping"],
    ["a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }]],
    ["another version of JSON-RPC", { jsonrpc: "1.0", id: 1, method: "ping" }],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }],
    ["a method that is a number", { jsonrpc: "2.0", id: 1, method: 7 }],
  ] as const)("refuses %s", async ([, message], { server, expect }) => {
    const { status } = await send(server, "POST", "/mcp", message, ACCEPT);
    expect(status).toBe(400);
  });

  test("refuses invalid JSON and unknown methods", async ({ server, expect }) => {
    const headers = { ...ACCEPT, "content-type": "application/json" };
    const broken = await server.fetch("/mcp", { method: "POST", headers, body: "{" });
    expect((await toAnswer(broken)).status).toBe(422);
    expect(await rpc(server, "resources/list")).toMatchObject({
      body: { error: { code: -32601 } },
    });
    for (const params of [{}, { name: 7 }, { name: "agent", arguments: [] }]) {
      expect(await rpc(server, "tools/call", params)).toMatchObject({
        body: { error: { code: -32602 } },
      });
    }
  });

  test("keeps a long call alive, and cancels it when the client disconnects", async ({
    server,
    expect,
  }) => {
    const { apiKey } = await makeWorkspace(server, "leaving");
    const leave = new AbortController();
    const response = await server.fetch("/mcp", {
      method: "POST",
      headers: { ...ACCEPT, "x-api-key": apiKey },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "forever", arguments: {} },
      }),
      signal: leave.signal,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^\n+$/);
    leave.abort();
    const roots = async () => {
      const found = await send(
        server,
        "POST",
        "/api/v1/runs/query",
        { is_root: true, start_time: "2020-01-01T00:00:00Z" },
        { "x-api-key": apiKey },
      );
      return (found.body as { runs?: { end_time: string | null }[] }).runs ?? [];
    };
    await vi.waitUntil(async () => (await roots()).some(({ end_time }) => end_time !== null), {
      timeout: 150_000,
      interval: 200,
    });
    expect(await roots()).toHaveLength(1);
  });
});
