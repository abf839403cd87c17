import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, assert, beforeAll, describe, inject, test, vi } from "vitest";
import * as recorder from "../../src/tracing/record.ts";
import { migrateIndex, newThread, type TestThread, textOf } from "./support.ts";

const record = vi.spyOn(recorder, "recordRuns").mockResolvedValue([]);

beforeAll(() => migrateIndex(inject("migrations")));

afterEach(() => {
  record.mockReset().mockResolvedValue([]);
});

type RecordedRun = {
  id: string;
  name: string;
  parent_run_id?: string;
  dotted_order: string;
  end_time?: unknown;
  error?: string;
  extra: { metadata: Record<string, unknown> };
};

/** Returns the recorded runs of a workspace, with updates applied to creates. */
function recorded(workspaceId: string): { projects: Set<string>; runs: RecordedRun[] } {
  const runs = new Map<string, RecordedRun>();
  const projects = new Set<string>();
  for (const [, workspace, project, batches] of record.mock.calls) {
    if (workspace !== workspaceId) continue;
    projects.add(project);
    for (const { post, patch } of batches) {
      for (const run of [...post, ...patch] as RecordedRun[]) {
        runs.set(run.id, { ...runs.get(run.id), ...run });
      }
    }
  }
  const sorted = [...runs.values()].toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1));
  return { projects, runs: sorted };
}

const hello = { input: { messages: [{ role: "user", content: "hello" }] } };

async function until<T>(look: () => T | undefined): Promise<T> {
  return vi.waitUntil(look, { timeout: 150_000, interval: 20 });
}

/** Restarts the object, as after a crash, when its stored ends of traces are due. */
async function dueNow(thread: TestThread): Promise<void> {
  await runInDurableObject(thread.object, (_, { storage }) => {
    storage.sql.exec(
      "UPDATE texts SET data = json_set(data, '$.due_at', 1) WHERE name LIKE 'trace-end:%'",
    );
  });
  await evictDurableObject(thread.object);
  await thread.api.get();
  await runInDurableObject(thread.object, (_, { storage }) =>
    storage.setAlarm(Date.now() + 60_000),
  );
  await runDurableObjectAlarm(thread.object);
}

describe("the trace of a run", () => {
  test.for([
    ["on a thread", "values", false],
    ["without a thread", "values", true],
    ["when it streams LangChain's events", "events", false],
  ] as const)("is recorded completely %s", async ([, stream_mode, temporary], { expect }) => {
    const thread = newThread();
    const body = { ...hello, stream_mode };
    const created = await thread.run("agent", body, { follow: "result", temporary });
    assert(created.ok);
    await textOf(created.value.stream);
    const { run_id } = created.value.run;
    const { workspaceId } = thread.scope;
    await until(() => recorded(workspaceId).runs[0]?.end_time);
    const { projects, runs } = recorded(workspaceId);
    expect(projects).toEqual(new Set(["default"]));
    const nameOf = new Map(runs.map(({ id, name }) => [id, name]));
    expect(runs.map(({ name, parent_run_id = "" }) => [name, nameOf.get(parent_run_id)])).toEqual([
      ["LangGraph", undefined],
      ["__start__", "LangGraph"],
      ["agent", "LangGraph"],
      ["ScriptChatModel", "agent"],
      ["RunnableLambda", "agent"],
      ["tool", "LangGraph"],
      ["agent", "LangGraph"],
      ["ScriptChatModel", "agent"],
      ["RunnableLambda", "agent"],
    ]);
    expect(runs[0]?.id).toBe(run_id);
    for (const { extra, end_time } of runs) {
      expect(extra.metadata).toMatchObject({
        run_id,
        thread_id: thread.id,
        assistant_id: "agent",
        graph_id: "agent",
        deployment_id: "default",
      });
      expect(end_time).toBeDefined();
    }
  });

  test("is sent while the run is in progress", async ({ expect }) => {
    const thread = newThread();
    const created = await thread.run("forever", { input: {} });
    assert(created.ok);
    const { workspaceId } = thread.scope;
    const [root] = await until(() => {
      const { runs } = recorded(workspaceId);
      return runs.length > 1 ? runs : undefined;
    });
    expect(root).toMatchObject({ id: created.value.run.run_id, name: "LangGraph" });
    expect(root).not.toHaveProperty("end_time");
    await thread.api.cancelRun(created.value.run.run_id, { action: "interrupt", wait: true });
    const ended = await until(() => recorded(workspaceId).runs[0]?.end_time);
    expect(ended).toBeDefined();
    expect(recorded(workspaceId).runs[0]?.error).toContain("Abort");
  });

  test("is one trace when an attempt dies and another continues", async ({ expect }) => {
    const thread = newThread();
    const input = { steps: 3, delay_ms: 1, label: "x" };
    const created = await thread.run("slow", { input }, { follow: "result" });
    assert(created.ok);
    const { run_id } = created.value.run;
    await textOf(created.value.stream);
    const { workspaceId } = thread.scope;
    const [before] = await until(() => {
      const { runs } = recorded(workspaceId);
      return runs[0]?.end_time === undefined ? undefined : runs;
    });
    record.mockClear();
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec("UPDATE runs SET status = 'running', ended_at = NULL");
      storage.sql.exec(
        `DELETE FROM checkpoints WHERE id IN
           (SELECT id FROM checkpoints WHERE ns = '' ORDER BY id DESC LIMIT 2)`,
      );
    });
    await evictDurableObject(thread.object);
    await thread.api.joinRun(run_id, { cancel_on_disconnect: false });
    const [after] = await until(() => {
      const { runs } = recorded(workspaceId);
      return runs[0]?.end_time === undefined ? undefined : runs;
    });
    expect(after?.dotted_order).toBe(before?.dotted_order);
    expect(after).toMatchObject({ inputs: input });
    expect(after?.extra.metadata["run_attempt"]).toBe(2);
  });

  test("ends with a run that is given up", async ({ expect }) => {
    const thread = newThread();
    const created = await thread.run("appender", hello, { follow: "result" });
    assert(created.ok);
    const { run_id } = created.value.run;
    await textOf(created.value.stream);
    const { workspaceId } = thread.scope;
    await until(() => recorded(workspaceId).runs[0]?.end_time);
    record.mockClear();
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec("UPDATE runs SET status = 'running', attempt = 3, ended_at = NULL");
    });
    await evictDurableObject(thread.object);
    await thread.api.get();
    const error = await until(() => recorded(workspaceId).runs[0]?.error);
    expect(error).toBe(
      "RunInterruptedError: The run was interrupted 3 times and is not tried again.",
    );
    expect(recorded(workspaceId).runs.map(({ id }) => id)).toEqual([run_id]);
  });

  test("is ended by the thread if the host's own end was lost", async ({ expect }) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    record.mockRejectedValue(new Error("no storage"));
    const thread = newThread();
    const created = await thread.run("appender", hello, { follow: "result" });
    assert(created.ok);
    const { run_id } = created.value.run;
    await textOf(created.value.stream);
    await until(
      () => log.mock.calls.some(([line]) => String(line).includes("trace_lost")) || undefined,
    );
    log.mockRestore();
    record.mockReset().mockResolvedValue([]);
    await dueNow(thread);
    const { runs, projects } = recorded(thread.scope.workspaceId);
    expect(projects).toEqual(new Set(["default"]));
    expect(runs).toMatchObject([
      {
        id: run_id,
        name: "LangGraph",
        inputs: hello.input,
        end_time: expect.any(String),
        extra: { metadata: { run_id, thread_id: thread.id, graph_id: "appender" } },
      },
    ]);
    expect(runs[0]).not.toHaveProperty("error");
    record.mockClear();
    await dueNow(thread);
    expect(recorded(thread.scope.workspaceId).runs).toEqual([]);
  });

  test("is ended once if the host has reported its end", async ({ expect }) => {
    const thread = newThread();
    const created = await thread.run("appender", hello, { follow: "result" });
    assert(created.ok);
    await textOf(created.value.stream);
    await until(() => recorded(thread.scope.workspaceId).runs[0]?.end_time);
    await runDurableObjectAlarm(thread.object);
    record.mockClear();
    await dueNow(thread);
    expect(recorded(thread.scope.workspaceId).runs).toEqual([]);
  });

  test("ends with a thread that is deleted", async ({ expect }) => {
    const thread = newThread();
    const created = await thread.run("forever", { input: {} });
    assert(created.ok);
    await until(() => recorded(thread.scope.workspaceId).runs[0]);
    await thread.api.remove();
    expect(recorded(thread.scope.workspaceId).runs[0]).toMatchObject({
      id: created.value.run.run_id,
      end_time: expect.any(String),
      error: "The thread was deleted",
    });
  });

  test("does not affect the run if it cannot be recorded", async ({ expect }) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    record.mockRejectedValue(new Error("no storage"));
    const thread = newThread();
    const created = await thread.run("appender", hello, { follow: "result" });
    assert(created.ok);
    const { run_id } = created.value.run;
    const values = JSON.parse(await textOf(created.value.stream));
    expect(values).not.toHaveProperty("__error__");
    expect((await thread.api.getRun(run_id))?.status).toBe("success");
    const { workspaceId } = thread.scope;
    const attempts = (): number =>
      record.mock.calls.filter(([, workspace]) => workspace === workspaceId).length;
    await until(() => attempts() === 3 || undefined);
    const lost = await until(() =>
      log.mock.calls
        .map(([line]) => String(line))
        .find((line) => line.includes("trace_lost") && line.includes(run_id)),
    );
    expect(JSON.parse(lost)).toMatchObject({
      event: "trace_lost",
      run_id,
      error: "Error: no storage",
    });
    log.mockRestore();
  });
});
