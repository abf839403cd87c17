import { describe } from "vitest";
import { TaskState } from "@a2a-js/sdk";
import type { ThreadStream } from "@langchain/langgraph-sdk";
import { connectA2a, connectOlderA2a } from "../support/a2a-clients.ts";
import { data, taskOf } from "../support/a2a-messages.ts";
import { newDeployer } from "../support/deployments.ts";
import { connectMcp, connectMcpV2 } from "../support/mcp-clients.ts";
import { human, textsOf } from "../support/messages.ts";
import { deployed, fixtureTarball } from "../support/rollouts.ts";
import { requestsTo } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";

const CONFIG = { configurable: { flavour: "mint" }, tags: ["from the environment"] };

const ANSWER = ["hello", "Let me look that up", "HELLO", "The answer is HELLO"];

/** Opens the stream of a new thread, by each transport. */
type Streams = Record<"sse" | "websocket", (assistantId: string) => ThreadStream>;

/** The agent server of a deployment, and the requests of a client of its workspace. */
const test = testWithSharedServer().extend("agent", { scope: "file" }, async ({ server }) => {
  const deployer = await newDeployer(server);
  const secrets = [{ name: "LANGGRAPH_CONFIG", value: JSON.stringify({ configurable: CONFIG }) }];
  const tarball = await fixtureTarball("protocols");
  const { deployment, revision } = await deployed(deployer, "protocols", tarball, { secrets });
  if (revision.status !== "DEPLOYED") throw new Error(revision.status_message ?? "");
  const url = `${server.url}/deployments/${deployment.id}`;
  const headers = { "x-api-key": deployer.apiKey };
  const requests = requestsTo(url);
  const client = requests.client({ headers });
  const streams: Streams = {
    sse: (assistantId) => client.threads.stream({ assistantId }),
    // The SDK sends no headers with a WebSocket, so that pages and Node behave alike; Node's own WebSocket can send
    // some.
    websocket: (assistantId) =>
      requests.client().threads.stream({
        assistantId,
        transport: "websocket",
        webSocketFactory: (address) => new WebSocket(address, { headers } as never),
      }),
  };
  return { at: { ...server, ...requests, url }, headers, client, streams };
});

describe.for([
  ["of the first generation", connectMcp],
  ["of the second generation", connectMcpV2],
] as const)("an MCP client %s", ([, connect]) => {
  test("calls an assistant of a deployment", async ({ agent: { at, headers, client }, expect }) => {
    const mcp = await connect(at, headers);
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name, description }) => [name, description])).toContainEqual([
      "agent",
      "Calls a tool, then answers.",
    ]);
    const { structuredContent } = await mcp.callTool("agent", { messages: [human("hello")] });
    expect(textsOf(structuredContent?.["messages"])).toEqual(ANSWER);
    const { assistant_id } = await client.assistants.get("configurable");
    const told = await mcp.callTool("configurable", {});
    expect(told.structuredContent).toMatchObject({
      seen: { configurable: { flavour: "mint", assistant_id }, tags: CONFIG.tags },
    });
    await expect(mcp.callTool("nothing", {})).rejects.toMatchObject({ code: -32602 });
    await mcp.close();
  });
});

describe("an A2A client", () => {
  test("calls an assistant of a deployment with version 1.0, and answers its question", async ({
    agent: { at, headers, client },
    expect,
  }) => {
    const a2a = await connectA2a(at, "interrupts", headers);
    const asked = taskOf(await a2a.sendMessage(data({})));
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const { contextId, id } = asked;
    expect((await client.threads.get(contextId)).status).toBe("interrupted");
    await a2a.sendMessage(data({ resume: 1 }, { taskId: id }));
    const done = taskOf(await a2a.sendMessage(data({ resume: 2 }, { taskId: id })));
    expect([done.id, done.status?.state]).toEqual([id, TaskState.TASK_STATE_COMPLETED]);
    expect((await client.threads.getState(contextId)).values).toEqual({
      mode: "twice",
      answers: { first: 1, second: 2 },
      finished: true,
    });
  });

  test("reads the words of a deployment's model with version 0.3", async ({
    agent: { at, headers, client },
    expect,
  }) => {
    const a2a = await connectOlderA2a(at, "agent", headers);
    const parts = [{ kind: "text" as const, text: "hello" }];
    const message = { kind: "message" as const, messageId: "m", role: "user" as const, parts };
    let words = "";
    let contextId = "";
    for await (const event of a2a.sendMessageStream({ message })) {
      if (event.kind === "task") contextId = event.contextId;
      if (event.kind !== "artifact-update") continue;
      for (const part of event.artifact.parts) words += part.kind === "text" ? part.text : "";
    }
    expect(words).toBe("Let me look that upThe answer is HELLO");
    const { values } = await client.threads.getState<{ messages: unknown }>(contextId);
    expect(textsOf(values.messages)).toEqual(ANSWER);
  });
});

describe.for(["sse", "websocket"] as const)("the streaming protocol by %s", (transport) => {
  test("starts a run of a deployment, answers its interrupt and streams its events", async ({
    agent: { client, streams },
    expect,
  }) => {
    const thread = streams[transport]("interrupts");
    const { threadId } = thread;
    await thread.run.start({ input: { mode: "parallel" } });
    await thread.output;
    const responses = thread.interrupts.map(({ interruptId, payload }) => ({
      namespace: [],
      interrupt_id: interruptId,
      response: `to ${(payload as { question: string }).question}`,
    }));
    expect(responses).toHaveLength(2);
    await thread.input.respond({ responses });
    const [run] = await client.runs.list(threadId);
    await client.runs.join(threadId, run?.run_id ?? "");
    const { values } = await thread.state.get({ namespace: [] });
    expect(values).toEqual({
      mode: "parallel",
      answers: { left: "to left", right: "to right" },
      finished: true,
    });
    expect((await client.threads.getState(threadId)).values).toEqual(values);
    await thread.close();
  });

  test("streams the values of a deployed graph's transformers", async ({
    agent: { streams },
    expect,
  }) => {
    const thread = streams[transport]("transformers");
    const { extensions } = thread;
    const counts = extensions["counts"] as AsyncIterable<{ soFar: number }> | undefined;
    await thread.run.start({ input: {} });
    const soFar: number[] = [];
    for await (const count of counts ?? []) soFar.push(count.soFar);
    expect([soFar, await extensions["total"]]).toEqual([[4, 8, 13], 13]);
    await thread.close();
  });

  test("streams the messages of a deployment's model", async ({ agent: { streams }, expect }) => {
    const thread = streams[transport]("agent");
    const { messages } = thread;
    await thread.run.start({ input: { messages: [human("hello")] } });
    const texts: string[] = [];
    for await (const message of messages) texts.push(await message.text);
    expect(texts).toEqual(["Let me look that up", "The answer is HELLO"]);
    expect(textsOf(((await thread.output) as { messages: unknown }).messages)).toEqual(ANSWER);
    await thread.close();
  });
});

describe("a deployed revision", () => {
  test("gives threads the default retention of its langgraph.json", async ({
    agent: { client },
    expect,
  }) => {
    const timeOf = async (threadId: string) => {
      const thread: object = await client.threads.get(threadId, { include: ["ttl"] });
      return "ttl" in thread ? thread.ttl : undefined;
    };
    const [plain, own, byRun] = [
      await client.threads.create(),
      await client.threads.create({ ttl: 60 }),
      crypto.randomUUID(),
    ];
    await client.runs.wait(byRun, "configurable", { input: {}, ifNotExists: "create" });
    for (const threadId of [plain.thread_id, byRun]) {
      expect(await timeOf(threadId)).toMatchObject({
        strategy: "keep_latest",
        ttl_minutes: 525_600,
      });
    }
    expect(await timeOf(own.thread_id)).toMatchObject({ strategy: "delete", ttl_minutes: 60 });
  });

  test("gives default assistants the config of its LANGGRAPH_CONFIG", async ({
    agent: { client },
    expect,
  }) => {
    const { config, assistant_id } = await client.assistants.get("configurable");
    expect(config).toEqual(CONFIG);
    const found = await client.assistants.search({ graphId: "configurable" });
    expect(found.map((assistant) => assistant.config)).toEqual([CONFIG]);
    const values = await client.runs.wait(null, "configurable", { input: {} });
    expect(values).toMatchObject({
      seen: { configurable: { flavour: "mint", assistant_id }, tags: CONFIG.tags },
    });
    expect((await client.assistants.get("agent")).config).toEqual({});
  });
});
