import { parquetMetadata } from "hyparquet";
import fc from "fast-check";
import { describe, test } from "vitest";
import type { RunValues } from "../../../support/columnar-runs.ts";
import { readParquet } from "../../../support/duckdb.ts";
import { generatedRuns } from "./generated-runs.ts";
import { asFile, payloadStore, writeRuns } from "./written-files.ts";

/** Returns runs that differ only in their ids, their starts and the given fields. */
function someRuns(count: number, fields: (index: number) => Partial<RunValues> = () => ({})) {
  const [sample] = fc.sample(generatedRuns({ minLength: 1, maxLength: 1 }), {
    seed: 3,
    numRuns: 1,
  });
  return Array.from({ length: count }, (_, index): RunValues => {
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
    const run = sample?.[0];
    if (run === undefined) throw new Error("no sample");
    return { ...run, id, trace_id: id, start_time: 1_000_000 + index, ...fields(index) };
  });
}

function groupsOf(file: Uint8Array): number[] {
  return metadataOf(file).row_groups.map(({ num_rows }) => Number(num_rows));
}

function metadataOf(file: Uint8Array) {
  return parquetMetadata(new Uint8Array(file).buffer);
}

const GROUP = 6000;

describe("a file", () => {
  test("is not written without runs", async ({ expect }) => {
    const { parts, written } = await writeRuns([]);
    expect(written).toBe(null);
    expect(parts).toEqual([]);
  });

  test("reports its contents", async ({ expect }) => {
    const runs = someRuns(7);
    const { file, written } = await writeRuns(runs, { batch: 3 });
    expect(written).toEqual({
      rows: 7,
      bytes: file.length,
      firstStart: 1_000_000,
      lastStart: 1_000_006,
      cursor: { startTime: 1_000_006, id: runs[6]?.id },
    });
  });

  test("has row groups with a maximum number of rows, independent of the batches", async ({
    expect,
  }) => {
    for (const batch of [1, 3, 100]) {
      const { file } = await writeRuns(someRuns(25), { batch, limits: { rows_per_group: 10 } });
      expect(groupsOf(file)).toEqual([10, 10, 5]);
    }
  });

  test("has row groups with a maximum number of bytes, and larger runs alone", async ({
    expect,
  }) => {
    const inputs = (index: number) =>
      JSON.stringify("x".repeat(index === 5 ? 10 * GROUP : 0.35 * GROUP));
    const runs = someRuns(9, (index) => ({ inputs: inputs(index) }));
    const seen = new Set<string>();
    for (const batch of [1, 2, 100]) {
      const { file } = await writeRuns(runs, {
        batch,
        fields: ["inputs"],
        limits: { bytes_per_group: GROUP },
      });
      expect(groupsOf(file)).toEqual([2, 2, 1, 1, 2, 1]);
      seen.add(Buffer.from(file).toString("hex"));
    }
    expect(seen.size).toBe(1);
  });

  test("ends at a maximum of rows, bytes and payloads of R2", async ({ expect }) => {
    const object = JSON.stringify("y".repeat(500));
    const payloads = payloadStore({ object });
    const stored = { object: "object", size: object.length };
    const runs = someRuns(9, (index) => ({
      inputs: "{}",
      outputs: index % 2 === 0 ? stored : "1",
    }));
    const rowsFor = async (limits: object): Promise<number | undefined> =>
      (await writeRuns(runs, { payloads, limits })).written?.rows;
    expect(await rowsFor({})).toBe(9);
    expect(await rowsFor({ rows_per_file: 4 })).toBe(4);
    expect(await rowsFor({ bytes_per_file: 1 })).toBe(1);
    expect(await rowsFor({ objects_per_file: 3 })).toBe(6);
  });

  test("has the chosen columns, in their order", async ({ expect }) => {
    const { file } = await writeRuns(someRuns(2), { fields: ["end_time", "name", "tenant_id"] });
    const { schema } = metadataOf(file);
    expect(schema.slice(1).map(({ name }) => name)).toEqual(["tenant_id", "name", "end_time"]);
  });

  test("has large payloads as they are in R2", async ({ expect }) => {
    const large = JSON.stringify({ text: "ä\0😀".repeat(700_000) });
    const error = 'quoted " and \u0001'.repeat(10_000);
    const objects = { large, small: '{"a":1}', error: JSON.stringify(error) };
    const at = (object: keyof typeof objects) => ({
      object,
      size: Buffer.byteLength(objects[object]),
    });
    const runs = someRuns(3, (index) => ({
      inputs: index === 1 ? at("large") : at("small"),
      outputs: index === 1 ? null : at("large"),
      error: index === 2 ? at("error") : null,
      events: index === 0 ? { object: "gone", size: 9 } : "[]",
    }));
    const { file } = await writeRuns(runs, {
      payloads: payloadStore(objects),
      compression: "zstandard",
      limits: { bytes_per_group: 10_000_000 },
    });
    expect(groupsOf(file)).toEqual([1, 1, 1]);
    const rows = await asFile(file, (path) => readParquet(path, { orderBy: "id" }));
    expect(rows).toEqual([
      expect.objectContaining({ inputs: '{"a":1}', outputs: large, error: null, events: "null" }),
      expect.objectContaining({ inputs: large, outputs: null, error: null, events: "[]" }),
      expect.objectContaining({ inputs: '{"a":1}', outputs: large, error, events: "[]" }),
    ]);
  });

  test("has statistics by which readers can skip by start, id and trace", async ({ expect }) => {
    const runs = someRuns(30);
    const { file } = await writeRuns(runs, { limits: { rows_per_group: 10 } });
    const { row_groups, schema } = metadataOf(file);
    const names = schema.slice(1).map(({ name }) => name);
    for (const [group, { columns, sorting_columns }] of row_groups.entries()) {
      const chunk = (name: string) => columns[names.indexOf(name)]?.meta_data;
      expect(sorting_columns).toEqual([
        { column_idx: names.indexOf("start_time"), descending: false, nulls_first: false },
      ]);
      expect(chunk("start_time")?.statistics).toMatchObject({
        min_value: new Date(1000 + (group * 10) / 1000),
        max_value: new Date(1000 + (group * 10 + 9) / 1000),
        null_count: 0n,
      });
      expect(chunk("id")?.statistics).toMatchObject({
        min_value: runs[group * 10]?.id,
        max_value: runs[group * 10 + 9]?.id,
      });
      expect(chunk("inputs")?.statistics).toBe(undefined);
    }
    const probe = async (column: string, value: string): Promise<unknown[]> =>
      asFile(file, async (path) => {
        const rows = await readParquet(path, {
          select: `(SELECT list(bloom_filter_excludes ORDER BY row_group_id)
            FROM parquet_bloom_probe('${path}', '${column}', '${value}')) AS excludes`,
        });
        return rows[0]?.["excludes"] as unknown[];
      });
    for (const column of ["id", "trace_id"]) {
      for (const index of [0, 9, 15, 29]) {
        const excludes = await probe(column, runs[index]?.id ?? "");
        expect(excludes[Math.floor(index / 10)]).toBe(false);
        expect(excludes.filter((excluded) => excluded === true)).toHaveLength(2);
      }
      expect(await probe(column, "nobody")).toEqual([true, true, true]);
    }
  });
});
