import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, inject, test, vi } from "vitest";
import type { SentBatch } from "../../src/agent-server/threads/traces/run-traces.ts";
import type { TraceRecorderObject } from "../../src/agent-server/threads/traces/trace-recorder-object.ts";
import { scopeObjectName } from "../../src/lib/object-names.ts";
import type { Scope } from "../../src/lib/scope.ts";
import * as recorder from "../../src/tracing/record.ts";
import { migrateIndex } from "./support.ts";

const record = vi.spyOn(recorder, "recordRuns").mockResolvedValue([]);

beforeAll(() => migrateIndex(inject("migrations")));

afterEach(() => {
  record.mockReset().mockResolvedValue([]);
});

type Recorder = DurableObjectStub<TraceRecorderObject>;

/** Returns the recorder of a new scope. */
function newRecorder(deploymentId = "default"): { scope: Scope; object: Recorder } {
  const scope = { workspaceId: crypto.randomUUID(), deploymentId };
  return { scope, object: env.TRACE_RECORDER.getByName(scopeObjectName(scope)) };
}

/** A batch with the end of a run's root, unless other members are given. */
function batchOf(run_id: string, more: Partial<SentBatch> = {}): SentBatch {
  const json = JSON.stringify({ post: [{ id: run_id, end_time: 1 }], patch: [] });
  return { json, run_id, example_id: null, project: null, ...more };
}

/** Returns the ids of the runs that each call has recorded, with the call's project. */
function calls(): [project: string, ids: unknown[]][] {
  return record.mock.calls.map(([, , project, batches]) => [
    project,
    batches.flatMap(({ post }) => post.map((run) => (run as { id: unknown }).id)),
  ]);
}

describe("the recorder of a scope", () => {
  test("records batches of a tenth of a second together", async ({ expect }) => {
    const { scope, object } = newRecorder();
    const batches = ["a", "b", "c"].map((id) => object.record(scope, batchOf(id)));
    const results = await Promise.all(batches);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
    expect(calls()).toEqual([["default", ["a", "b", "c"]]]);
  });

  test("records in the project that a batch names", async ({ expect }) => {
    const { scope, object } = newRecorder();
    const projects = ["one", null, "one"];
    await Promise.all(
      projects.map((project, id) => object.record(scope, batchOf(`${id}`, { project }))),
    );
    expect(calls()).toEqual([
      ["one", ["0", "2"]],
      ["default", ["1"]],
    ]);
  });

  test("records nothing for a deployment that no longer exists", async ({ expect }) => {
    const { scope, object } = newRecorder(crypto.randomUUID());
    expect(await object.record(scope, batchOf("a"))).toEqual({ ok: true, endsRun: true });
    expect(calls()).toEqual([]);
  });

  test("says whether the root has ended, and adds the example to the root", async ({ expect }) => {
    const { scope, object } = newRecorder();
    const post = [
      { id: "root", name: "graph" },
      { id: "child", end_time: 1 },
    ];
    const json = JSON.stringify({ post, patch: [] });
    const sent = batchOf("root", { json, example_id: "example" });
    expect(await object.record(scope, sent)).toEqual({ ok: true, endsRun: false });
    const marked = { id: "root", name: "graph", reference_example_id: "example" };
    expect(record.mock.calls[0]?.[3]).toEqual([{ post: [marked, post[1]], patch: [] }]);
  });

  test("refuses only the batch that cannot be recorded", async ({ expect }) => {
    const { scope, object } = newRecorder();
    record.mockImplementation(async (_env, _workspace, _project, batches) => {
      if (JSON.stringify(batches).includes("poison")) throw new Error("it is poison");
      return batches.map(({ post }) => (JSON.stringify(post).includes("odd") ? "it is odd" : null));
    });
    const sent = ["a", "poison", "odd"].map((id) => object.record(scope, batchOf(id)));
    for (const json of ["{", "7"]) sent.push(object.record(scope, batchOf("b", { json })));
    const results = await Promise.all(sent);
    expect(results).toEqual([
      { ok: true, endsRun: true },
      { ok: false, error: "it is poison" },
      { ok: false, error: "it is odd" },
      { ok: false, error: expect.stringContaining("JSON") },
      { ok: false, error: expect.stringContaining("undefined") },
    ]);
  });

  test("records at most a hundred batches together, and the rest without a pause", async ({
    expect,
  }) => {
    const { scope, object } = newRecorder();
    const pauses = await runInDurableObject(object, async (instance: TraceRecorderObject) => {
      const timers = vi.spyOn(globalThis, "setTimeout");
      const sent = Array.from({ length: 250 }, (_, id) => instance.record(scope, batchOf(`${id}`)));
      await Promise.all(sent);
      const counted = timers.mock.calls.filter(([, ms]) => ms === 100).length;
      timers.mockRestore();
      return counted;
    });
    expect(calls().map(([, ids]) => ids.length)).toEqual([100, 100, 50]);
    // One for the first, during which the others arrived, and one for the last.
    expect(pauses).toBe(2);
  });

  test("refuses more than 32 Mi characters, and records what it has taken", async ({ expect }) => {
    const { scope, object } = newRecorder();
    const json = JSON.stringify({ post: [{ id: "x".repeat(12 * 1024 * 1024) }], patch: [] });
    const oks = await runInDurableObject(object, async (instance: TraceRecorderObject) => {
      const sent = ["a", "b", "c"].map((id) => instance.record(scope, batchOf(id, { json })));
      return (await Promise.all(sent)).map(({ ok }) => ok);
    });
    expect(oks).toEqual([true, true, false]);
    // Each is larger than what is recorded at once.
    expect(record).toHaveBeenCalledTimes(2);
    expect(await object.record(scope, batchOf("d"))).toEqual({ ok: true, endsRun: true });
  });
});
