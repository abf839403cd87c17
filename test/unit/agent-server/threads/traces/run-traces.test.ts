import { afterEach, beforeEach, describe, test, vi } from "vitest";
import type { RunRow } from "../../../../../src/agent-server/threads/storage/run-row.ts";
import type { TraceBatch } from "../../../../../src/graph-runtime/protocol.ts";
import type { Scope } from "../../../../../src/lib/scope.ts";
import {
  RunTraces,
  type SentBatch,
} from "../../../../../src/agent-server/threads/traces/run-traces.ts";

const RUN_ID = "0198c0de-0000-7000-8000-000000000001";

const run = {
  run_id: RUN_ID,
  started_at: Date.UTC(2026, 7, 1, 12, 0, 0, 123),
  created_at: 0,
} as RunRow;

type Recorded = [scope: Scope, batch: SentBatch];

const SCOPE: Scope = { workspaceId: "workspace-1", deploymentId: "default" };

/** Records what it is given, unless `fail` returns true. Batches that contain "end" end the run. */
function fixture(fail: () => boolean = () => false) {
  const recorded: Recorded[] = [];
  const ended: string[] = [];
  let attempts = 0;
  const traces = new RunTraces({
    scope: () => SCOPE,
    record: async (...call) => {
      attempts += 1;
      if (fail()) throw new Error("storage is full");
      recorded.push(call);
      return { endsRun: call[1].json.includes("end") };
    },
    waitUntil: () => undefined,
    onRootEnd: (runId) => void ended.push(runId),
    logLevel: "error",
  });
  return { traces, recorded, ended, attempts: () => attempts };
}

const batch = (id: string, chars = 0) => ({
  json: JSON.stringify({ post: [{ id, inputs: "x".repeat(chars) }], patch: [] }),
  operations: 1,
});

const postedIds = (recorded: readonly Recorded[]): string[] =>
  recorded.flatMap(([, { json }]) =>
    JSON.parse(json).post.map((posted: { id: string }) => posted.id),
  );

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 7, 1, 12, 30) });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("RunTraces", () => {
  test("passes the run's start and its deployment to the host", ({ expect }) => {
    expect(fixture().traces.of(run).spec).toEqual({
      started_at: run.started_at,
      metadata: { deployment_id: "default" },
    });
  });

  test("records a batch with its run and its scope", async ({ expect }) => {
    const { traces, recorded } = fixture();
    const json = '{"post":[{"id":"a"}],"patch":[{"id":"b"}]}';
    await traces.of(run).accept({ json, operations: 2 });
    const sent = { json, run_id: RUN_ID, example_id: null, project: null };
    expect(recorded).toEqual([[SCOPE, sent]]);
  });

  test("names the project and the example that the run's creator chose", async ({ expect }) => {
    const { traces, recorded } = fixture();
    const tracer = { project_name: "evaluations", example_id: "example-1" };
    await traces.of(run, tracer).accept(batch("a"));
    expect(recorded[0]?.[1]).toMatchObject({ project: "evaluations", example_id: "example-1" });
  });

  test("retries after half a second and after two more, then continues with the next batch", async ({
    expect,
  }) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    let failures = 3;
    const { traces, recorded, attempts } = fixture(() => failures-- > 0);
    const trace = traces.of(run);
    const accepted = Promise.all([trace.accept(batch("lost")), trace.accept(batch("kept"))]);
    await vi.advanceTimersByTimeAsync(499);
    expect(attempts()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(attempts()).toBe(2);
    await vi.advanceTimersByTimeAsync(2000);
    await accepted;
    expect(attempts()).toBe(4);
    expect(postedIds(recorded)).toEqual(["kept"]);
    expect(log.mock.calls.map(([line]) => JSON.parse(String(line)))).toEqual([
      {
        level: "error",
        event: "trace_lost",
        run_id: RUN_ID,
        operations: 1,
        error: "Error: storage is full",
      },
    ]);
  });

  test("buffers at most 16 MiB for a slow recorder", async ({ expect }) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const { traces, recorded } = fixture();
    const trace = traces.of(run);
    const MIB = 1024 * 1024;
    const accepted = Promise.all(["a", "b", "c"].map((id) => trace.accept(batch(id, 7 * MIB))));
    await accepted;
    expect(postedIds(recorded)).toEqual(["a", "b"]);
    expect(String(log.mock.calls[0]?.[0])).toContain('"event":"trace_lost"');
    const later = trace.accept(batch("d", 7 * MIB));
    await later;
    expect(postedIds(recorded)).toEqual(["a", "b", "d"]);
  });

  test.for([null, 7, { json: 7 }, { json: { length: -1e12 } }, { operations: 1 }])(
    "drops an invalid batch, and still buffers no more after it: %j",
    async (nonsense, { expect }) => {
      vi.spyOn(console, "error").mockReturnValue();
      const { traces, recorded } = fixture();
      const trace = traces.of(run);
      await trace.accept(nonsense as unknown as TraceBatch);
      const MIB = 1024 * 1024;
      const accepted = ["a", "b", "c"].map((id) => trace.accept(batch(id, 7 * MIB)));
      await vi.advanceTimersByTimeAsync(5000);
      await Promise.all(accepted);
      expect(postedIds(recorded)).toEqual(["a", "b"]);
    },
  );

  test("reports when the end of a run's root is recorded, but not earlier", async ({ expect }) => {
    vi.spyOn(console, "error").mockReturnValue();
    let failures = 3;
    const { traces, ended } = fixture(() => failures-- > 0);
    const trace = traces.of(run);
    const end = { json: JSON.stringify({ post: [], patch: [{ id: "end" }] }) };
    const lost = trace.accept({ ...end, operations: 1 });
    await vi.advanceTimersByTimeAsync(2600);
    await lost;
    const others = [batch("other"), batch(RUN_ID)].map((each) => trace.accept(each));
    await Promise.all(others);
    expect(ended).toEqual([]);
    const recorded = trace.accept({ ...end, operations: 1 });
    await recorded;
    expect(ended).toEqual([RUN_ID]);
  });
});
