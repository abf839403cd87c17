import { describe } from "vitest";
import { Role, TaskState } from "@a2a-js/sdk";
import { connectA2a, connectOlderA2a } from "../support/a2a-clients.ts";
import { data, partsOf, taskOf, text } from "../support/a2a-messages.ts";
import { testInWorkspace } from "../support/shared-server.ts";

const test = testInWorkspace();

const TASK_ID = /^([0-9a-f-]{36}):[0-9a-f-]{36}$/;

describe("a client of version 1.0", () => {
  test("sends messages in one context", async ({ server, client, expect }) => {
    const agent = await connectA2a(server, "appender");
    const first = taskOf(await agent.sendMessage(text("hello")));
    expect(first.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(TASK_ID.exec(first.id)?.[1]).toBe(first.contextId);
    expect(partsOf(first)).toEqual(["reply 1 to: hello"]);
    const second = taskOf(await agent.sendMessage(text("again", { contextId: first.contextId })));
    expect([second.contextId, second.id === first.id]).toEqual([first.contextId, false]);
    expect(partsOf(second)).toEqual(["reply 2 to: again"]);
    const texts = second.history.map(({ role, parts }) => [role, parts[0]?.content?.value]);
    expect(texts).toEqual([
      [Role.ROLE_USER, "hello"],
      [Role.ROLE_AGENT, "reply 1 to: hello"],
      [Role.ROLE_USER, "again"],
      [Role.ROLE_AGENT, "reply 2 to: again"],
    ]);
    expect(await client.runs.list(first.contextId)).toHaveLength(2);
  });

  test("creates a context with an id of its choice", async ({ server, client, expect }) => {
    const agent = await connectA2a(server, "appender");
    const contextId = crypto.randomUUID();
    expect(taskOf(await agent.sendMessage(text("hello", { contextId }))).contextId).toBe(contextId);
    expect(await client.threads.get(contextId)).toMatchObject({ status: "idle" });
    await expect(agent.sendMessage(text("x", { contextId: "mine" }))).rejects.toThrow(/UUID/);
  });

  test("reads a task later, with as much of its history as it wants", async ({
    server,
    expect,
  }) => {
    const agent = await connectA2a(server, "appender");
    const { id } = taskOf(await agent.sendMessage(text("hello")));
    const all = await agent.getTask({ tenant: "", id });
    expect([partsOf(all), all.history.length]).toEqual([["reply 1 to: hello"], 2]);
    for (const historyLength of [0, 1]) {
      const { history } = await agent.getTask({ tenant: "", id, historyLength });
      expect(history).toHaveLength(historyLength);
    }
    await expect(agent.getTask({ tenant: "", id, historyLength: 11 })).rejects.toThrow(
      /historyLength/,
    );
  });

  test("reads the model's words as they come", async ({ server, expect }) => {
    const agent = await connectA2a(server, "agent");
    const words = new Map<string, string>();
    const kinds: unknown[] = [];
    for await (const { payload } of agent.sendMessageStream(text("hello"))) {
      if (payload?.$case !== "artifactUpdate") {
        kinds.push([payload?.$case, "status" in (payload?.value ?? {}) && payload?.value]);
        continue;
      }
      const { artifact, append } = payload.value;
      const id = artifact?.artifactId ?? "";
      const piece = String(artifact?.parts[0]?.content?.value);
      words.set(id, append ? words.get(id) + piece : piece);
    }
    expect([...words.values()]).toEqual(["Let me look that up", "The answer is HELLO"]);
    expect(kinds).toMatchObject([
      ["task", { status: { state: TaskState.TASK_STATE_SUBMITTED } }],
      ["statusUpdate", { status: { state: TaskState.TASK_STATE_COMPLETED } }],
    ]);
  });

  test("answers a task's questions, until the task is done", async ({ server, expect }) => {
    const agent = await connectA2a(server, "interrupts");
    const asked = taskOf(await agent.sendMessage(data({})));
    const { id, contextId } = asked;
    expect(asked.status).toMatchObject({
      state: TaskState.TASK_STATE_INPUT_REQUIRED,
      message: { parts: [{ content: { value: { question: "first" } } }] },
    });
    const again = taskOf(await agent.sendMessage(text("one", { taskId: id })));
    expect(again).toMatchObject({
      id,
      status: {
        message: { parts: [{ content: { value: { question: "second", first: "one" } } }] },
      },
    });
    const done = taskOf(await agent.sendMessage(data({ resume: [2] }, { taskId: id, contextId })));
    expect(done).toMatchObject({ id, status: { state: TaskState.TASK_STATE_COMPLETED } });
    const values = { mode: "twice", answers: { first: "one", second: [2] }, finished: true };
    expect(partsOf(done)).toEqual([values]);
    expect(partsOf(await agent.getTask({ tenant: "", id }))).toEqual([values]);
    await expect(agent.sendMessage(text("three", { taskId: id }))).rejects.toMatchObject({
      name: "UnsupportedOperationError",
    });
  });

  test("gets the reason why a task failed", async ({ server, expect }) => {
    const agent = await connectA2a(server, "throws");
    expect(taskOf(await agent.sendMessage(data({ message: "boo" })))).toMatchObject({
      status: {
        state: TaskState.TASK_STATE_FAILED,
        message: { parts: [{ content: { value: "FixtureError: boo" } }] },
      },
      artifacts: [],
    });
  });

  test("cancels a task that it does not wait for", async ({ server, client, expect }) => {
    const agent = await connectA2a(server, "forever");
    const configuration = {
      returnImmediately: true,
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
    };
    const begun = taskOf(await agent.sendMessage({ ...data({}), configuration }));
    expect(begun.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    const cancelled = await agent.cancelTask({ tenant: "", id: begun.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const [run] = await client.runs.list(begun.contextId);
    expect(run?.status).toBe("interrupted");
    await expect(
      agent.cancelTask({ tenant: "", id: begun.id, metadata: undefined }),
    ).rejects.toMatchObject({ name: "TaskNotCancelableError" });
  });

  test("can send plain text only to a graph that takes messages", async ({ server, expect }) => {
    const agent = await connectA2a(server, "zod_state");
    expect(partsOf(taskOf(await agent.sendMessage(data({ question: "why?" }))))).toEqual([
      { question: "why?", answer: "why?", words: 1 },
    ]);
    await expect(agent.sendMessage(text("why?"))).rejects.toMatchObject({
      name: "ContentTypeNotSupportedError",
    });
  });

  test("finds no task of another assistant or context", async ({ server, expect }) => {
    const [agent, other] = await Promise.all([
      connectA2a(server, "interrupts"),
      connectA2a(server, "appender"),
    ]);
    const { id } = taskOf(await agent.sendMessage(data({})));
    const missing = { name: "TaskNotFoundError" };
    for (const taskId of [id, `${crypto.randomUUID()}:${crypto.randomUUID()}`, "x", ":"]) {
      await expect(other.getTask({ tenant: "", id: taskId })).rejects.toMatchObject(missing);
      await expect(other.sendMessage(text("x", { taskId }))).rejects.toMatchObject(missing);
    }
    const contextId = crypto.randomUUID();
    await expect(agent.sendMessage(text("x", { taskId: id, contextId }))).rejects.toMatchObject(
      missing,
    );
  });
});

describe("a client of version 0.3", () => {
  const message = {
    kind: "message" as const,
    messageId: "older-1",
    role: "user" as const,
    parts: [{ kind: "text" as const, text: "hello" }],
  };

  test("sends messages, and waits although its configuration does not say so", async ({
    server,
    expect,
  }) => {
    const agent = await connectOlderA2a(server, "appender");
    for (const configuration of [{}, { acceptedOutputModes: ["text/plain"] }]) {
      expect(await agent.sendMessage({ message, configuration })).toMatchObject({
        kind: "task",
        id: expect.stringMatching(TASK_ID),
        status: { state: "completed" },
        artifacts: [{ parts: [{ kind: "text", text: "reply 1 to: hello" }] }],
        history: [
          { kind: "message", role: "user" },
          { kind: "message", role: "agent" },
        ],
      });
    }
  });

  test("reads a stream, and reads its task afterwards", async ({ server, expect }) => {
    const agent = await connectOlderA2a(server, "agent");
    const events = [];
    for await (const event of agent.sendMessageStream({ message })) events.push(event);
    const [first, last] = [events[0], events.at(-1)];
    expect(first).toMatchObject({ kind: "task", status: { state: "submitted" } });
    expect(last).toMatchObject({
      kind: "status-update",
      status: { state: "completed" },
      final: true,
    });
    const id = first?.kind === "task" ? first.id : "";
    expect(await agent.getTask({ id, historyLength: 1 })).toMatchObject({
      id,
      artifacts: [{ parts: [{ text: "The answer is HELLO" }] }],
      history: [{ parts: [{ text: "The answer is HELLO" }] }],
    });
  });

  test("cancels a task", async ({ server, expect }) => {
    const agent = await connectOlderA2a(server, "forever");
    const begun = await agent.sendMessage({
      message: { ...message, parts: [{ kind: "data", data: {} }] },
      configuration: { blocking: false },
    });
    if (begun.kind !== "task") throw new Error("The answer is a message");
    expect(await agent.cancelTask({ id: begun.id })).toMatchObject({
      status: { state: "canceled" },
    });
  });
});
