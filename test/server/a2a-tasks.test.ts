import { type ListTasksRequest, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { a2a, connectA2a, connectOlderA2a } from "../support/a2a-clients.ts";
import { data, taskOf, text } from "../support/a2a-messages.ts";
import type { WorkerServer as TestServer } from "../support/server.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testInWorkspace();

const AT_ONCE = {
  returnImmediately: true,
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
};

/** Returns a request of the SDK's type that names only the context. */
function listOf(contextId: string, wanted: Partial<ListTasksRequest> = {}): ListTasksRequest {
  return {
    tenant: "",
    contextId,
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: "",
    statusTimestampAfter: undefined,
    ...wanted,
  };
}

async function working(client: Client, threadId: string): Promise<void> {
  await vi.waitFor(async () => {
    const [run] = await client.runs.list(threadId);
    if (run?.status !== "running") throw new Error(`The run is ${run?.status}`);
  }, 60_000);
}

/** Returns the state of each task event of a stream, and the model's words of each artifact event. */
async function tellings(events: AsyncIterable<StreamResponse>): Promise<unknown[]> {
  const told: unknown[] = [];
  for await (const { payload } of events) {
    if (payload?.$case === "artifactUpdate") {
      told.push(payload.value.artifact?.parts.map(({ content }) => content?.value as unknown));
    } else if (payload?.$case === "task" || payload?.$case === "statusUpdate") {
      told.push([payload.$case, payload.value.status?.state]);
    }
  }
  return told;
}

describe("a client that comes back to a task", () => {
  test("receives all events of a running task from its beginning", async ({
    server,
    client,
    expect,
  }) => {
    const agent = await connectA2a(server, "slow");
    const input = { label: "long", steps: 100_000, delay_ms: 20 };
    const { id, contextId } = taskOf(
      await agent.sendMessage({ ...data(input), configuration: AT_ONCE }),
    );
    // By now it has sent a message that no client has read.
    await vi.waitFor(async () => {
      const { values } = await client.threads.getState(contextId);
      expect(values).toMatchObject({ done: expect.toSatisfy((done) => done > 1) });
    }, 60_000);
    const events = agent.resubscribeTask({ tenant: "", id });
    const [first, second] = [await events.next(), await events.next()];
    expect([first.value, second.value]).toMatchObject([
      { payload: { value: { id, status: { state: TaskState.TASK_STATE_WORKING } } } },
      { payload: { value: { artifact: { parts: [{ content: { value: "long step 1" } }] } } } },
    ]);
    const rest = tellings({ [Symbol.asyncIterator]: () => events });
    await agent.cancelTask({ tenant: "", id, metadata: undefined });
    expect((await rest).at(-1)).toEqual(["statusUpdate", TaskState.TASK_STATE_CANCELED]);
  });

  test("receives a task's question, and an error for a task that has ended", async ({
    server,
    expect,
  }) => {
    const agent = await connectA2a(server, "interrupts");
    const { id } = taskOf(await agent.sendMessage(data({})));
    const state = TaskState.TASK_STATE_INPUT_REQUIRED;
    expect(await tellings(agent.resubscribeTask({ tenant: "", id }))).toEqual([
      ["task", state],
      ["statusUpdate", state],
    ]);
    for (const taskId of [id, id]) await agent.sendMessage(data({ resume: 1 }, { taskId }));
    await expect(tellings(agent.resubscribeTask({ tenant: "", id }))).rejects.toMatchObject({
      name: "UnsupportedOperationError",
    });
    const missing = { tenant: "", id: `${crypto.randomUUID()}:${crypto.randomUUID()}` };
    await expect(tellings(agent.resubscribeTask(missing))).rejects.toMatchObject({
      name: "TaskNotFoundError",
    });
  });

  test("may use version 0.3", async ({ server, client, expect }) => {
    const agent = await connectOlderA2a(server, "forever");
    const part = { kind: "data" as const, data: {} };
    const message = { kind: "message" as const, messageId: "m", role: "user" as const };
    const begun = await agent.sendMessage({
      message: { ...message, parts: [part] },
      configuration: { blocking: false },
    });
    if (begun.kind !== "task") throw new Error("The answer is a message");
    await working(client, begun.contextId);
    const events = agent.resubscribeTask({ id: begun.id });
    expect((await events.next()).value).toMatchObject({
      kind: "task",
      id: begun.id,
      status: { state: "working" },
    });
    const last = events.next();
    await agent.cancelTask({ id: begun.id });
    expect((await last).value).toMatchObject({
      kind: "status-update",
      status: { state: "canceled" },
      final: true,
    });
  });
});

describe("a list of tasks", () => {
  test("has the tasks of a context, in pages and filtered by status", async ({
    server,
    expect,
  }) => {
    const agent = await connectA2a(server, "appender");
    const first = taskOf(await agent.sendMessage(text("one")));
    const { contextId } = first;
    const made = [first];
    for (const word of ["two", "three"]) {
      made.unshift(taskOf(await agent.sendMessage(text(word, { contextId }))));
    }
    const ids = made.map(({ id }) => id);
    const all = await agent.listTasks(listOf(contextId, { includeArtifacts: true }));
    expect(all).toEqual({ tasks: made, nextPageToken: "", pageSize: 50, totalSize: 3 });
    const page = await agent.listTasks(listOf(contextId, { pageSize: 2, historyLength: 0 }));
    expect(page.tasks.map(({ id, artifacts, history }) => [id, artifacts, history])).toEqual(
      ids.slice(0, 2).map((id) => [id, [], []]),
    );
    const { nextPageToken: pageToken } = page;
    const last = await agent.listTasks(listOf(contextId, { pageSize: 2, pageToken }));
    expect([last.tasks.map(({ id }) => id), last.nextPageToken]).toEqual([ids.slice(2), ""]);
    const statusTimestampAfter = made[1]?.status?.timestamp;
    const newest = await agent.listTasks(listOf(contextId, { statusTimestampAfter }));
    expect(newest.tasks.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  });

  test("has a task that was answered at once, with its current state", async ({
    server,
    expect,
  }) => {
    const agent = await connectA2a(server, "interrupts");
    const { id, contextId } = taskOf(await agent.sendMessage(data({})));
    const idsIn = async (status: TaskState): Promise<string[]> => {
      const { tasks } = await agent.listTasks(listOf(contextId, { status }));
      return tasks.map((task) => task.id);
    };
    expect(await idsIn(TaskState.TASK_STATE_INPUT_REQUIRED)).toEqual([id]);
    expect(await idsIn(TaskState.TASK_STATE_COMPLETED)).toEqual([]);
    for (const taskId of [id, id]) await agent.sendMessage(data({ resume: 1 }, { taskId }));
    expect(await idsIn(TaskState.TASK_STATE_INPUT_REQUIRED)).toEqual([]);
    expect(await idsIn(TaskState.TASK_STATE_COMPLETED)).toEqual([id]);
  });

  test("has no task of another assistant, workspace or context", async ({ server, expect }) => {
    const agent = await connectA2a(server, "appender");
    const { contextId } = taskOf(await agent.sendMessage(text("one")));
    const other = await connectA2a(server, "interrupts");
    const { apiKey } = await makeWorkspace(server, "another");
    const theirs = await connectA2a(server, "appender", { "x-api-key": apiKey });
    const none = { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 };
    expect([
      await other.listTasks(listOf(contextId)),
      await theirs.listTasks(listOf(contextId)),
      await agent.listTasks(listOf(crypto.randomUUID())),
      await agent.listTasks(listOf("x")),
    ]).toEqual([none, none, none, none]);
  });

  test("refuses an invalid page token", async ({ server, expect }) => {
    const { body } = await a2a(server, "appender", "ListTasks", {
      contextId: crypto.randomUUID(),
      pageToken: `1.${crypto.randomUUID()}.0`,
    });
    expect(body).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("a different list") },
    });
    for (const wrong of [
      { pageSize: 0 },
      { pageSize: 101 },
      { pageToken: "x" },
      { status: "working" },
      { statusTimestampAfter: "yesterday" },
    ]) {
      const params = { contextId: crypto.randomUUID(), ...wrong };
      const { body } = await a2a(server, "appender", "ListTasks", params);
      expect([wrong, body]).toMatchObject([wrong, { error: { code: -32602 } }]);
    }
  });
});

/** Returns all tasks of a list, read page by page, and the size of each page. */
async function pagesOf(
  agent: Awaited<ReturnType<typeof connectA2a>>,
  request: Partial<ListTasksRequest>,
): Promise<{ tasks: Task[]; sizes: number[] }> {
  const tasks: Task[] = [];
  const sizes: number[] = [];
  for (let pageToken = ""; ;) {
    const page = await agent.listTasks(listOf("", { ...request, pageToken }));
    tasks.push(...page.tasks);
    sizes.push(page.tasks.length);
    if (page.nextPageToken === "") return { tasks, sizes };
    pageToken = page.nextPageToken;
  }
}

const idsOf = (tasks: readonly Task[]): string[] => tasks.map(({ id }) => id);

/** Returns a client of a new workspace. */
async function alone(server: TestServer, assistant: string) {
  const { apiKey } = await makeWorkspace(server, "of one list");
  const agent = await connectA2a(server, assistant, { "x-api-key": apiKey });
  return { agent, apiKey, client: server.client({ apiKey }) };
}

describe("a list of the tasks of all contexts", () => {
  test("has shorter pages when tasks are large", async ({ server, expect }) => {
    const { agent } = await alone(server, "appender");
    const long = "x".repeat(5_000_000);
    const made = [];
    for (let count = 0; count < 3; count += 1) {
      made.unshift(taskOf(await agent.sendMessage(text(long))));
    }
    const { tasks, sizes } = await pagesOf(agent, {});
    expect([idsOf(tasks), sizes]).toEqual([idsOf(made), [1, 1, 1]]);
    const small = await pagesOf(agent, { historyLength: 0 });
    expect([idsOf(small.tasks), small.sizes]).toEqual([idsOf(made), [3]]);
  });

  test("has the tasks whose status changed last first, in pages", async ({ server, expect }) => {
    const { agent } = await alone(server, "appender");
    const first = taskOf(await agent.sendMessage(text("one")));
    const second = taskOf(await agent.sendMessage(text("two")));
    const { contextId } = first;
    const third = taskOf(await agent.sendMessage(text("three", { contextId })));
    const all = await agent.listTasks(listOf("", { includeArtifacts: true }));
    const tasks = [third, second, first];
    expect(all).toEqual({ tasks, nextPageToken: "", pageSize: 50, totalSize: 3 });
    const paged = await pagesOf(agent, { pageSize: 2, historyLength: 1 });
    expect([idsOf(paged.tasks), paged.sizes]).toEqual([idsOf(tasks), [2, 1]]);
    expect(paged.tasks.map(({ artifacts, history }) => [artifacts, history.length])).toEqual(
      tasks.map(() => [[], 1]),
    );
    const statusTimestampAfter = second.status?.timestamp;
    const newest = await agent.listTasks(listOf("", { statusTimestampAfter }));
    expect(idsOf(newest.tasks)).toEqual(idsOf([third, second]));
  });

  test("filters by status, also if that depends on an interrupt", async ({ server, expect }) => {
    const { agent } = await alone(server, "interrupts");
    const [left, right] = [
      taskOf(await agent.sendMessage(data({}))),
      taskOf(await agent.sendMessage(data({}))),
    ];
    for (const taskId of [left.id, left.id]) {
      await agent.sendMessage(data({ resume: 1 }, { taskId }));
    }
    const idsIn = async (status: TaskState): Promise<string[]> => {
      const { tasks, totalSize } = await agent.listTasks(listOf("", { status }));
      expect([totalSize, tasks.map((task) => task.status?.state)]).toEqual([
        tasks.length,
        tasks.map(() => status),
      ]);
      return idsOf(tasks);
    };
    expect(await idsIn(TaskState.TASK_STATE_COMPLETED)).toEqual([left.id]);
    expect(await idsIn(TaskState.TASK_STATE_INPUT_REQUIRED)).toEqual([right.id]);
    expect(await idsIn(TaskState.TASK_STATE_FAILED)).toEqual([]);
  });

  test("covers more contexts than are read together", async ({ server, expect }) => {
    const { agent, client } = await alone(server, "appender");
    const input = { messages: [{ type: "human", content: "one" }] };
    const threads: string[] = [];
    for (let made = 0; made < 110; made += 10) {
      threads.push(
        ...(await Promise.all(
          Array.from({ length: 10 }, async () => {
            const { thread_id } = await client.threads.create();
            await client.runs.wait(thread_id, "appender", { input });
            return thread_id;
          }),
        )),
      );
    }
    await vi.waitFor(
      async () => expect(await client.threads.count({ status: "idle" })).toBe(threads.length),
      150_000,
    );
    const { tasks, sizes } = await pagesOf(agent, { pageSize: 30 });
    expect(sizes).toEqual([30, 20, 30, 20, 10]);
    expect(tasks.map(({ contextId }) => contextId).toSorted()).toEqual(threads.toSorted());
    const failed = await pagesOf(agent, { status: TaskState.TASK_STATE_FAILED });
    expect(failed).toEqual({ tasks: [], sizes: [0] });
  });

  test("has no task of another assistant or workspace", async ({ server, expect }) => {
    const { agent, apiKey } = await alone(server, "appender");
    await agent.sendMessage(text("one"));
    const other = await connectA2a(server, "interrupts", { "x-api-key": apiKey });
    const { agent: theirs } = await alone(server, "appender");
    const none = { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 };
    expect([await other.listTasks(listOf("")), await theirs.listTasks(listOf(""))]).toEqual([
      none,
      none,
    ]);
  });
});
