import { afterEach, beforeEach, describe, test, vi } from "vitest";
import type { RunRow } from "../../../../../src/agent-server/threads/storage/run-row.ts";
import type { TraceBatch } from "../../../../../src/graph-runtime/protocol.ts";
import type { Scope } from "../../../../../src/lib/scope.ts";
import {
  RunTraces,
  type TraceOperations,
} from "../../../../../src/agent-server/threads/traces/run-traces.ts";

const RUN_ID = "0198c0de-0000-7000-8000-000000000001";

const run = {
  run_id: RUN_ID,
  started_at: Date.UTC(2026, 7, 1, 12, 0, 0, 123),
  created_at: 0,
} as RunRow;

type Recorded = [scope: Scope, operations: TraceOperations];

const SCOPE: Scope = { workspaceId: "workspace-1", deploymentId: "default" };

/** Records what it is given, unless `fail` returns true. */
function fixture(fail: () => boolean = () => false) {
  const recorded: Recorded[] = [];
  const ended: string[] = [];
  let attempts = 0;
  const traces = new RunTraces({
    scope: () => SCOPE,
    record: async (...call) => {
      attempts += 1;
      if (fail()) throw new Error("storage is full");
      recorded.push([call[0], call[1]]);
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

const postedIds = (recorded: readonly Recorded[]): unknown[] =>
  recorded.flatMap(([, { post }]) => post.map((posted) => (posted as { id: string }).id));

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

  test("records for its deployment after a tenth of a second", async ({ expect }) => {
    const { traces, recorded } = fixture();
    const accepted = traces
      .of(run)
      .accept({ json: '{"post":[{"id":"a"}],"patch":[{"id":"b"}]}', operations: 2 });
    await vi.advanceTimersByTimeAsync(99);
    expect(recorded).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await accepted;
    expect(recorded).toEqual([[SCOPE, { post: [{ id: "a" }], patch: [{ id: "b" }] }]]);
  });

  test("retries after half a second and after two more, then continues with the next batch", async ({
    expect,
  }) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    let failures = 3;
    const { traces, recorded, attempts } = fixture(() => failures-- > 0);
    const trace = traces.of(run);
    const accepted = Promise.all([trace.accept(batch("lost")), trace.accept(batch("kept"))]);
    await vi.advanceTimersByTimeAsync(100 + 499);
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
    await vi.advanceTimersByTimeAsync(100);
    await accepted;
    expect(postedIds(recorded)).toEqual(["a", "b"]);
    expect(String(log.mock.calls[0]?.[0])).toContain('"event":"trace_lost"');
    const later = trace.accept(batch("d", 7 * MIB));
    await vi.advanceTimersByTimeAsync(100);
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
    const end = { json: JSON.stringify({ post: [], patch: [{ id: RUN_ID, end_time: 1 }] }) };
    const lost = trace.accept({ ...end, operations: 1 });
    await vi.advanceTimersByTimeAsync(2600);
    await lost;
    const others = [batch("other"), batch(RUN_ID)].map((each) => trace.accept(each));
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all(others);
    expect(ended).toEqual([]);
    const recorded = trace.accept({ ...end, operations: 1 });
    await vi.advanceTimersByTimeAsync(100);
    await recorded;
    expect(ended).toEqual([RUN_ID]);
  });
});
