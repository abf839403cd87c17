import { env } from "cloudflare:workers";
import fc from "fast-check";
import { assert, beforeAll, describe, inject, test } from "vitest";
import {
  checkExportFilter,
  findExportProject,
  readRunsForExport,
  type RunsToExport,
} from "../../src/tracing/export.ts";
import type { RunColumn, RunPosition } from "../../src/tracing/model/columnar-runs.ts";
import { shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { RUN_COLUMNS, type RunValues, unpackRuns } from "../support/columnar-runs.ts";
import { type RunData, runData } from "../support/trace-data.ts";
import { root, TestStore, updateOf } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MIDNIGHT = Date.parse("2026-03-02T00:00:00Z");
const MICROS = 1000;
const ALWAYS = { from: (MIDNIGHT - 30 * DAY_MS) * MICROS, to: (MIDNIGHT + 30 * DAY_MS) * MICROS };
const SPREAD = "spread";

type Row = Partial<RunValues>;

async function read(target: TestStore, query: Partial<RunsToExport> = {}): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const { runs, from, to } of readRunsForExport(env, {
    workspaceId: target.workspaceId,
    projectId: await target.projectId(SPREAD),
    filter: null,
    ...ALWAYS,
    after: null,
    columns: RUN_COLUMNS,
    ...query,
  })) {
    rows.push(...unpackRuns(runs, from, to));
  }
  return rows;
}

/** Returns the same from the run query, which reads runs one by one. */
async function expected(target: TestStore, query: Partial<RunsToExport> = {}): Promise<Row[]> {
  const { filter = null, from, to, after = null } = { ...ALWAYS, ...query };
  const { runs } = await target.query({
    projectIds: [await target.projectId(SPREAD)],
    selection: { filter: filter ?? undefined, from, to: to - 1 },
    after,
    limit: 100_000,
  });
  return runs.map(({ run }): RunValues => {
    const payload = (name: keyof typeof run.payloads, absent: string | null) => {
      const found = run.payloads[name];
      if (found === undefined) return absent;
      return "json" in found ? found.json : { object: found.object, size: found.bytes };
    };
    const error = payload("error", null);
    return {
      id: run.id,
      trace_id: run.trace_id,
      parent_run_id: run.parent_run_id,
      reference_example_id: run.reference_example_id,
      name: run.name,
      run_type: run.run_type,
      status: run.status,
      dotted_order: run.dotted_order,
      trace_tier: run.trace_tier,
      inputs: payload("inputs", "{}"),
      outputs: payload("outputs", null),
      error: typeof error === "string" ? (JSON.parse(error) as string).toWellFormed() : error,
      extra: payload("extra", "{}"),
      events: payload("events", "[]"),
      tags: run.tags ?? "[]",
      feedback_stats: run.feedback_stats,
      start_time: run.start_time,
      end_time: run.end_time,
      total_tokens: run.total_tokens,
      prompt_tokens: run.prompt_tokens,
      completion_tokens: run.completion_tokens,
      total_cost: run.total_cost,
      prompt_cost: run.prompt_cost,
      completion_cost: run.completion_cost,
      first_token_time: run.first_token_time,
    };
  });
}

const times = fc.constantFrom(
  ...[-1.5 * DAY_MS, -1, 0, 1, HOUR_MS, DAY_MS - 1, DAY_MS].map((offset) => MIDNIGHT + offset),
);
const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom("", "\0", "\ud83d", "\ude00", "😀é", "plain"),
);
const generated = fc.array(
  fc.record({
    parent: fc.option(fc.nat({ max: 300 }), { freq: 3 }),
    start: times,
    placed: fc.option(times),
    name: fc.constantFrom("a", "b", "ünï"),
    fields: fc.record(
      {
        run_type: fc.constantFrom("llm", "tool"),
        inputs: fc.record({ text: texts }),
        outputs: fc.record({
          text: texts,
          usage_metadata: fc.constant({
            input_tokens: 7,
            output_tokens: 5,
            total_tokens: 12,
            total_cost: 0.000_123_456_789,
          }),
        }),
        error: texts,
        events: fc.constant([{ name: "new_token", time: "2026-03-02T00:00:01.123456Z" }]),
        extra: fc.record({ metadata: fc.record({ topic: texts }) }),
        tags: fc.uniqueArray(fc.constantFrom("plain", "", "\ud83d", 'é,"]'), { maxLength: 3 }),
        reference_example_id: fc.uuid(),
        end_time: fc.constant("2026-03-05T00:00:00.123456Z"),
      },
      { requiredKeys: [] },
    ),
  }),
  { minLength: 80, maxLength: 120 },
);

type Generated = typeof generated extends fc.Arbitrary<infer Runs> ? Runs : never;

/** Stores a project whose days have several shards each, and traces on both sides of midnight. */
async function store(runs: Generated): Promise<TestStore> {
  const target = new TestStore();
  await target.spread(SPREAD, 3);
  const all: RunData[] = [];
  for (const [index, { parent, start, placed, name, fields }] of runs.entries()) {
    const above = parent === null ? undefined : all[parent % Math.max(1, index)];
    all.push(
      runData(SPREAD, {
        ...(above === undefined ? {} : { parent: above }),
        start: new Date(placed ?? start),
        start_time: new Date(start).toISOString(),
        name,
        ...fields,
      }),
    );
  }
  for (let from = 0; from < all.length; from += 40) {
    const failures = await target.post(...all.slice(from, from + 40));
    assert(failures.length === 0, JSON.stringify(failures));
  }
  await target.settle();
  return target;
}

const filters = fc.constantFrom(
  'eq(name, "a")',
  'eq(status, "error")',
  "eq(is_root, false)",
  'has(tags, "plain")',
  'search("plain")',
  'and(eq(run_type, "llm"), neq(name, "b"))',
);

describe("runs for an export", () => {
  test.for([1, 2])(
    "equal those of the run query, in its order (dataset %i)",
    async (seed, { expect }) => {
      const [runs] = fc.sample(generated, { seed, numRuns: 1 });
      assert(runs !== undefined);
      const target = await store(runs);
      const all = await expected(target);
      expect(await read(target)).toEqual(all);
      const property = fc.asyncProperty(
        fc.option(filters),
        fc.option(fc.nat({ max: 200 })),
        fc.tuple(times, times),
        async (filter, behind, bounds) => {
          const [first, second] = bounds.map((time) => time * MICROS).toSorted((a, b) => a - b);
          const last = behind === null ? undefined : all[behind % all.length];
          const after: RunPosition | null =
            last === undefined ? null : { startTime: last.start_time ?? 0, id: last.id ?? "" };
          const query = { filter, after, from: first ?? 0, to: (second ?? 0) + 1 };
          expect(await read(target, query)).toEqual(await expected(target, query));
        },
      );
      await fc.assert(property, { seed, numRuns: 30 });
    },
  );

  test("have the requested columns, their id and their start", async ({ expect }) => {
    const target = new TestStore();
    const run = runData(SPREAD, { start: new Date(MIDNIGHT), inputs: { a: 1 } });
    await target.post(run);
    const columns: RunColumn[] = ["inputs"];
    expect(await read(target, { columns })).toEqual([
      { id: run.id, start_time: MIDNIGHT * MICROS, inputs: '{"a":1}' },
    ]);
  });

  test("have references to large payloads", async ({ expect }) => {
    const target = new TestStore();
    const inputs = { text: "ä".repeat(70_000) };
    const run = runData(SPREAD, { start: new Date(MIDNIGHT), inputs });
    await target.post(run);
    const [row] = await read(target, { columns: ["inputs"] });
    const stored = row?.inputs;
    assert(typeof stored === "object" && stored !== null);
    const text = JSON.stringify(inputs);
    expect(stored.size).toBe(Buffer.byteLength(text));
    expect(await (await env.PAYLOADS.get(stored.object))?.text()).toBe(text);
  });

  test("come in pages, which are bounded in rows and in bytes", async ({ expect }) => {
    const target = new TestStore();
    const runs = Array.from({ length: 9 }, (_, index) =>
      root({ start: new Date(MIDNIGHT + index), inputs: { text: "x".repeat(1000) } }),
    );
    await target.post(...runs);
    const ref = await target.shardOn(new Date(MIDNIGHT));
    const pagesOf = async (bounds: { limit: number; maxBytes: number }): Promise<string[][]> => {
      const pages: string[][] = [];
      let after: RunPosition | null = null;
      do {
        const page = await shardStub(env, ref).exportPage(
          {},
          { columns: ["inputs"], after, ...bounds },
        );
        pages.push(unpackRuns(page.runs, 0, page.runs.rows).map(({ id }) => id ?? ""));
        after = page.next;
      } while (after !== null);
      return pages;
    };
    const ids = runs.map(({ id }) => id);
    const chunks = (size: number): string[][] =>
      Array.from({ length: 9 / size }, (_, page) => ids.slice(page * size, (page + 1) * size));
    expect(await pagesOf({ limit: 3, maxBytes: 1e6 })).toEqual(chunks(3));
    expect(await pagesOf({ limit: 100, maxBytes: 1 })).toEqual(chunks(1));
    expect(await pagesOf({ limit: 100, maxBytes: 1e6 })).toEqual([ids]);
  });

  test("belong to their workspace only", async ({ expect }) => {
    const [target, other] = [new TestStore(), new TestStore()];
    await target.post(runData(SPREAD, { start: new Date(MIDNIGHT) }));
    await other.projectId(SPREAD);
    const projectId = await target.projectId(SPREAD);
    expect(await read(other, { projectId })).toEqual([]);
    expect(await findExportProject(env, other.workspaceId, projectId)).toBe(false);
    expect(await findExportProject(env, target.workspaceId, projectId)).toBe(true);
  });

  test("are continued from the same position after an update", async ({ expect }) => {
    const target = new TestStore();
    const runs = [0, 1, 2].map((index) => runData(SPREAD, { start: new Date(MIDNIGHT + index) }));
    await target.post(...runs);
    const [, second, third] = runs;
    assert(second !== undefined && third !== undefined);
    const after = { startTime: (MIDNIGHT + 1) * MICROS, id: second.id };
    await target.patch(updateOf(second, { outputs: {} }), updateOf(third, { name: "changed" }));
    const rows = await read(target, { after, columns: ["name"] });
    expect(rows).toEqual([{ id: third.id, start_time: (MIDNIGHT + 2) * MICROS, name: "changed" }]);
  });
});

test("only a wrong filter leads to an error message", ({ expect }) => {
  expect(checkExportFilter('eq(name, "a")')).toBe(null);
  expect(checkExportFilter("eq(nome, 1)")).toContain("nome");
});
