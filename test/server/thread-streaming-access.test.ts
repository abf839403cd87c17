import { randomUUID } from "node:crypto";
import { describe } from "vitest";
import { bearer } from "../support/bearer.ts";
import { answerOf, send } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { lifecycleOf, openSocket, readEvents } from "../support/thread-events.ts";

const test = testWithServer({ AGENT_AUTH: "api-key" }, "custom-auth");

function command(server: TestServer, threadId: string, user: string, method: string, params = {}) {
  const path = `/threads/${threadId}/commands`;
  return answerOf(send(server, "POST", path, { id: 7, method, params }, bearer(user)));
}

const RUN = { assistant_id: "branching", input: {} };

describe("a thread of one user", () => {
  test("is hidden from another user, by any command", async ({ server, expect }) => {
    const threadId = randomUUID();
    const started = await command(server, threadId, "owner", "run.start", RUN);
    expect(started.body).toMatchObject({ type: "success", id: 7 });
    const { run_id } = (started.body as { result: { run_id: string } }).result;
    const missing = randomUUID();
    const asked: [string, object][] = [
      ["state.get", {}],
      ["state.listCheckpoints", {}],
      ["state.fork", { checkpoint_id: randomUUID() }],
      ["agent.getTree", {}],
      ["agent.getTree", { run_id }],
      ["input.respond", { interrupt_id: "x", response: 1 }],
    ];
    for (const [method, params] of asked) {
      const [theirs, nothing] = [threadId, missing].map((id) =>
        command(server, id, "other", method, params),
      );
      const text = JSON.stringify((await theirs)?.body).replaceAll(threadId, missing);
      expect([method, text]).toEqual([method, JSON.stringify((await nothing)?.body)]);
      expect([method, text]).toEqual([method, expect.stringContaining('"no_such_run"')]);
    }
    expect((await command(server, threadId, "other", "run.start", RUN)).body).toMatchObject({
      type: "error",
      error: "invalid_argument",
      message: "Thread already exists",
    });
    const events = await readEvents(server, threadId, {}, 1, bearer("owner"));
    expect(lifecycleOf(events)).toEqual(["running", "completed"]);
  });

  test("is streamed to its owner who waited for it, and its deletion is hidden from others", async ({
    server,
    expect,
  }) => {
    const threadId = randomUUID();
    const reading = (user: string) =>
      server.fetch(`/threads/${threadId}/stream/events`, {
        method: "POST",
        headers: bearer(user),
        body: JSON.stringify({ channels: ["lifecycle"] }),
      });
    const theirs = await reading("other");
    const untilEnded = readEvents(server, threadId, {}, 1, bearer("owner"));
    const mine = await reading("owner");
    await command(server, threadId, "owner", "run.start", RUN);
    expect(lifecycleOf(await untilEnded)).toEqual(["running", "completed"]);
    await send(server, "DELETE", `/threads/${threadId}`, undefined, bearer("owner"));
    expect(await mine.text()).toContain("The thread was deleted");
    const heard = await theirs.body?.getReader().read();
    expect(new TextDecoder().decode(heard?.value)).toBe(": heartbeat\n");
  });

  test("streams to each WebSocket what its user may see", async ({ server, expect }) => {
    const threadId = randomUUID();
    // The first connection does not own the thread: the thread belongs to the user who starts its first run.
    await using other = await openSocket(server, threadId, bearer("other"));
    await using owner = await openSocket(server, threadId, bearer("owner"));
    const channels = ["lifecycle", "values"];
    for (const socket of [other, owner])
      await socket.command("subscription.subscribe", { channels });
    expect(await owner.command("run.start", RUN)).toMatchObject({ type: "success" });
    expect(lifecycleOf(await owner.untilEnded(1))).toEqual(["running", "completed"]);
    expect(await other.command("state.get")).toMatchObject({ error: "no_such_run" });
    expect(await other.command("run.start", RUN)).toMatchObject({ error: "invalid_argument" });
    expect(await owner.command("state.get")).toMatchObject({ type: "success" });
    expect(other.events).toEqual([]);
  });

  test("authorises each command of a WebSocket", async ({ server, expect }) => {
    const threadId = randomUUID();
    const rules = bearer({ identity: "reader", rules: "deny" });
    await expect(openSocket(server, threadId, rules)).rejects.toThrow("refused");
    await expect(openSocket(server, threadId)).rejects.toThrow("refused");
    const denied = await answerOf(
      send(server, "POST", `/threads/${threadId}/commands`, { id: 1, method: "state.get" }, rules),
    );
    expect(denied).toEqual({ status: 403, body: { detail: "Forbidden" } });
  });
});

describe("an invalid command", () => {
  test("is answered with an error that says what is wrong", async ({ server, expect }) => {
    const threadId = randomUUID();
    const error = async (method: string, params: object = {}) => {
      const { status, body } = await command(server, threadId, "owner", method, params);
      const { type, id, error: code, message } = body as Record<string, unknown>;
      expect([status, type, id]).toEqual([200, "error", 7]);
      return [code, message];
    };
    expect(await error("run.stop")).toEqual(["unknown_command", 'There is no command "run.stop"']);
    expect(await error("run.start", { assistant_id: 5 })).toEqual([
      "invalid_argument",
      expect.stringContaining("params.assistant_id"),
    ]);
    expect(await error("run.start", { assistant_id: "nobody" })).toEqual([
      "invalid_argument",
      expect.stringContaining('No assistant found for "nobody"'),
    ]);
    expect((await error("input.inject"))[0]).toBe("not_supported");
    expect((await error("subscription.subscribe"))[0]).toBe("not_supported");
    const tracer = { ...RUN, langsmith_tracer: { project_name: "x" } };
    expect((await error("run.start", tracer))[0]).toBe("not_supported");
    const path = `/threads/${threadId}/commands`;
    const malformed = await send(server, "POST", path, { id: -1, method: "x" }, bearer("owner"));
    expect(malformed.status).toBe(422);
    const more = { id: 1, method: "agent.getTree", params: { colour: "red" } };
    const ignored = await send(server, "POST", path, more, bearer("owner"));
    expect(ignored.headers.get("x-ignored-fields")).toBe("params.colour");
  });

  test("is answered on a WebSocket, which stays open", async ({ server, expect }) => {
    await using socket = await openSocket(server, randomUUID(), bearer("owner"));
    for (const text of ["no JSON", '{"id":-1,"method":"x"}', '{"id":1}', "[]"]) {
      const answer = socket.nameless();
      socket.send(text);
      expect(await answer).toMatchObject({ type: "error", id: null, error: "invalid_argument" });
    }
    const subscribe = (channels: string[]) =>
      socket.command("subscription.subscribe", { channels });
    expect(await subscribe(["everything"])).toMatchObject({ error: "invalid_argument" });
    expect(await subscribe([])).toMatchObject({ error: "invalid_argument" });
    expect(await subscribe(["custom:mine"])).toMatchObject({ type: "success" });
  });
});
