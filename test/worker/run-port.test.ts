import { test } from "vitest";
import type { CheckpointTable } from "../../src/agent-server/threads/checkpoint-table.ts";
import { ReadPort } from "../../src/agent-server/threads/run-port.ts";

test.for([
  [undefined, 50],
  [3, 3],
  [50, 50],
  [1e9, 100],
  [Infinity, 100],
  ["many", 0],
  [-1, 0],
])("a page of checkpoints is bounded: %s gives %s", async ([limit, found], { expect }) => {
  const limits: unknown[] = [];
  const list = (query: { limit?: number }) => {
    limits.push(query.limit);
    return [];
  };
  const port = new ReadPort({ list } as unknown as CheckpointTable);
  expect(await port.listCheckpoints({ limit: limit as number })).toEqual([]);
  expect(limits).toEqual([found]);
});
