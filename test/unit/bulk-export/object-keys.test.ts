import { assert, test } from "vitest";
import { formatCursor, parseCursor } from "../../../src/bulk-export/execution/run-progress.ts";
import { fileName, partitionFolder } from "../../../src/bulk-export/execution/partitions.ts";

const place = {
  prefix: "root/traces",
  exportId: "e",
  workspaceId: "t",
  projectId: "s",
  formatVersion: "v1" as const,
  startTime: Date.UTC(2026, 2, 4, 23, 59, 59) * 1000,
};

test("months and days have two digits", () => {
  assert.equal(
    partitionFolder(place),
    "root/traces/export_id=e/tenant_id=t/session_id=s/runs/year=2026/month=03/day=04",
  );
});

test("in v2_beta every segment of the path has a key", () => {
  assert.equal(
    partitionFolder({ ...place, formatVersion: "v2_beta" }),
    "root/traces/export_id=e/tenant_id=t/session_id=s/resource=runs/year=2026/month=03/day=04",
  );
});

test("without a prefix the path begins with the export", () => {
  assert.match(partitionFolder({ ...place, prefix: "" }), /^export_id=e\//);
});

test("file names sort in the order of the files", () => {
  assert.deepEqual([0, 9, 10, 12_345].map(fileName), [
    "runs-00000.parquet",
    "runs-00009.parquet",
    "runs-00010.parquet",
    "runs-12345.parquet",
  ]);
});

test("a cursor is read as it was written", () => {
  const cursor = { startTime: 1_772_668_799_000_001, id: "0199f0a2-0000-7000-8000-000000000001" };
  assert.deepEqual(parseCursor(formatCursor(cursor)), cursor);
  assert.throws(() => parseCursor("yesterday"), "not a cursor: yesterday");
});
