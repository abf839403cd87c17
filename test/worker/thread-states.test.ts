import { test } from "vitest";
import type { ThreadStorage } from "../../src/agent-server/threads/storage/thread-storage.ts";
import type { ThreadRow } from "../../src/agent-server/threads/storage/thread-record.ts";
import { ThreadStates } from "../../src/agent-server/threads/runs/thread-states.ts";
import type { GraphHostApi, HostResult } from "../../src/graph-runtime/protocol.ts";
import type { WritableCheckpointPort } from "../../src/graph-runtime/checkpoint-port.ts";

const THREAD = { thread_id: "t", graph_id: "g", config: "{}", metadata: "{}" } as ThreadRow;
const REQUEST = { revision_id: null, checkpoint: null, supersteps: [], graph_id: null };

test("a host that was given up writes nothing any more, even through a kept reference", async ({
  expect,
}) => {
  const applied: unknown[] = [];
  const storage = {
    checkpoints: { apply: (batch: unknown) => void applied.push(batch) },
    transaction: (work: () => void) => work(),
  } as unknown as ThreadStorage;
  const kept: WritableCheckpointPort[] = [];
  const late: HostResult<never> = { ok: false, code: "graph_late", message: "too late" };
  const host = {
    updateState: async (_: unknown, port: WritableCheckpointPort) => {
      kept.push(port);
      await port.save([]);
      return late;
    },
  } as unknown as GraphHostApi;
  const updated = await new ThreadStates(storage, { host: () => host, countUse: () => {} }).update(
    THREAD,
    REQUEST,
  );
  expect(updated).toEqual({ ok: false, code: "graph_late", message: "too late" });
  await expect(kept[0]?.save([])).rejects.toThrow("The update has ended");
  expect(applied).toEqual([[]]);
});
