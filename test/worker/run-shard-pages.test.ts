import { env } from "cloudflare:workers";
import fc from "fast-check";
import { assert, beforeAll, describe, inject, test } from "vitest";
import type { RunPosition } from "../../src/tracing/model/run-page.ts";
import type { RunSelection } from "../../src/tracing/shard/selection.ts";
import { shardStub } from "../../src/tracing/shard/shard-ref.ts";
import type { RunType } from "../../src/tracing/model/run-write.ts";
import { type RunData, runData } from "../support/trace-data.ts";
import { child, root, TestStore } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const DAY_MS = 86_400_000;
const NOON = new Date("2026-03-01T12:00:00Z");
const MIDNIGHT = Date.parse("2026-03-02T00:00:00Z");
/** The last project is spread over several shards a day. */
const PROJECTS = ["one", "two", "spread"];

/** Few times, so that many runs start at the same time, and at the ends of days. */
const TIMES = [0, 1, -1, DAY_MS - 1, DAY_MS, 2.5 * DAY_MS, -0.5 * DAY_MS].map(
  (offset) => MIDNIGHT + offset,
);

const EXAMPLES = [1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`);

/** A run as it is expected to be stored. */
type Model = {
  id: string;
  project: string;
  traceId: string;
  parentId: string | null;
  start: number;
  name: string;
  type: RunType;
  failed: boolean;
  tags: string[];
  example: string;
};

const names = fc.constantFrom("a", "b", "c");
const times = fc.constantFrom(...TIMES);

const runs = fc.array(
  fc.record({
    project: fc.constantFrom(...PROJECTS),
    parent: fc.option(fc.nat({ max: 300 }), { freq: 3 }),
    /** The start in the run's own field, and in its dotted order. */
    start: times,
    placed: fc.option(times),
    name: names,
    type: fc.constantFrom<RunType>("llm", "tool"),
    failed: fc.boolean(),
    tags: fc.uniqueArray(fc.constantFrom("x", "y")),
    example: fc.constantFrom(...EXAMPLES),
    isSent: fc.constantFrom(true, true, true, true, false),
  }),
  { minLength: 120, maxLength: 160 },
);

type Generated = typeof runs extends fc.Arbitrary<infer Runs> ? Runs : never;

/** Sends the runs in the order of their creation, or backwards; some are never sent. */
async function store(generated: Generated, backwards: boolean): Promise<[TestStore, Model[]]> {
  const target = new TestStore();
  await target.spread("spread", 4);
  const all: RunData[] = [];
  const sent: RunData[] = [];
  const models: Model[] = [];
  for (const [index, made] of generated.entries()) {
    const parent = made.parent === null ? undefined : all[made.parent % Math.max(1, index)];
    const project = parent?.session_name ?? made.project;
    const { name, type, failed, tags, example } = made;
    const run = runData(project, {
      ...(parent === undefined ? {} : { parent }),
      start: new Date(made.placed ?? made.start),
      start_time: new Date(made.start).toISOString(),
      name,
      run_type: type,
      tags,
      reference_example_id: example,
      ...(failed ? { error: "broken" } : {}),
    });
    all.push(run);
    if (!made.isSent) continue;
    sent.push(run);
    models.push({
      id: run.id,
      project,
      traceId: run.trace_id,
      parentId: run.parent_run_id ?? null,
      start: made.start * 1000,
      name,
      type,
      failed,
      tags,
      example,
    });
  }
  if (backwards) sent.reverse();
  for (let from = 0; from < sent.length; from += 40) {
    assert((await target.post(...sent.slice(from, from + 40))).length === 0);
  }
  await target.settle();
  return [target, models];
}

/** A condition in the filter language, and its definition. */
type Condition = { text: string; holds: (run: Model) => boolean };

const conditions: fc.Arbitrary<Condition> = fc.oneof(
  names.map((name) => ({ text: `eq(name, "${name}")`, holds: (run: Model) => run.name === name })),
  fc.constantFrom("x", "y").map((tag) => ({
    text: `has(tags, "${tag}")`,
    holds: (run: Model) => run.tags.includes(tag),
  })),
  fc.constant({ text: 'eq(status, "error")', holds: (run: Model) => run.failed }),
  fc.constant({ text: "eq(is_root, false)", holds: (run: Model) => run.parentId !== null }),
);

const questions = fc.record({
  projects: fc.option(fc.subarray(PROJECTS, { minLength: 1 })),
  descending: fc.boolean(),
  limit: fc.oneof(fc.constantFrom(1, 2, 1000), fc.integer({ min: 3, max: 60 })),
  from: fc.option(times, { freq: 2 }),
  to: fc.option(times, { freq: 2 }),
  filter: fc.option(conditions, { freq: 2 }),
  traceFilter: fc.option(conditions, { freq: 2 }),
  treeFilter: fc.option(conditions, { freq: 2 }),
  by: fc.constantFrom("root", "no root", "error", "no error", "type", "example", "nothing"),
  named: fc.constantFrom("ids", "trace", "parent", ...Array.from({ length: 9 }, () => "none")),
  which: fc.nat({ max: 200 }),
});

type Question = typeof questions extends fc.Arbitrary<infer Asked> ? Asked : never;

/** Returns the selection, and its definition by those of its members. */
function selectionOf(
  question: Question,
  all: readonly Model[],
): { selection: RunSelection; holds: (run: Model) => boolean } {
  const { from, to, filter, traceFilter, treeFilter, by, named } = question;
  const one = all[question.which % all.length];
  assert(one !== undefined);
  const ids = [one.id, crypto.randomUUID(), all[0]?.id ?? ""];
  const matchesTree = (condition: Condition, run: Model, roots: boolean): boolean =>
    all.some(
      (other) =>
        other.traceId === run.traceId &&
        (!roots || other.parentId === null) &&
        condition.holds(other),
    );
  const tests: [RunSelection, (run: Model) => boolean][] = [];
  if (named === "ids") tests.push([{ ids }, ({ id }) => ids.includes(id)]);
  if (named === "trace") {
    tests.push([{ traceId: one.traceId }, ({ traceId }) => traceId === one.traceId]);
  }
  if (named === "parent") {
    const parentRunId = one.parentId ?? one.id;
    tests.push([{ parentRunId }, ({ parentId }) => parentId === parentRunId]);
  }
  if (by === "root") tests.push([{ isRoot: true }, ({ parentId }) => parentId === null]);
  if (by === "no root") tests.push([{ isRoot: false }, ({ parentId }) => parentId !== null]);
  if (by === "error") tests.push([{ hasError: true }, ({ failed }) => failed]);
  if (by === "no error") tests.push([{ hasError: false }, ({ failed }) => !failed]);
  if (by === "type") tests.push([{ runType: one.type }, ({ type }) => type === one.type]);
  if (by === "example") {
    const referenceExampleIds = [one.example];
    tests.push([{ referenceExampleIds }, ({ example }) => example === one.example]);
  }
  if (from !== null) tests.push([{ from: from * 1000 }, ({ start }) => start >= from * 1000]);
  if (to !== null) tests.push([{ to: to * 1000 }, ({ start }) => start <= to * 1000]);
  if (filter !== null) tests.push([{ filter: filter.text }, filter.holds]);
  if (traceFilter !== null) {
    tests.push([{ traceFilter: traceFilter.text }, (run) => matchesTree(traceFilter, run, true)]);
  }
  if (treeFilter !== null) {
    tests.push([{ treeFilter: treeFilter.text }, (run) => matchesTree(treeFilter, run, false)]);
  }
  return {
    selection: Object.assign({}, ...tests.map(([part]) => part)),
    holds: (run) => tests.every(([, holds]) => holds(run)),
  };
}

function inOrder(runs: readonly Model[], descending: boolean): string[] {
  const sign = descending ? -1 : 1;
  return runs
    .toSorted((left, right) => sign * (left.start - right.start || (left.id < right.id ? -1 : 1)))
    .map(({ id }) => id);
}

describe("pages of runs", () => {
  test.for([1, 2, 3])(
    "together contain the selected runs, sorted (dataset %i)",
    async (seed, { expect }) => {
      const [generated] = fc.sample(runs, { seed, numRuns: 1 });
      assert(generated !== undefined);
      const [target, models] = await store(generated, seed === 2);
      const projectIds = new Map<string, string>();
      for (const name of PROJECTS) projectIds.set(name, await target.projectId(name));
      const property = fc.asyncProperty(questions, async (question) => {
        const { projects, descending, limit } = question;
        const { selection, holds } = selectionOf(question, models);
        const chosen = models.filter(
          (run) => holds(run) && (projects === null || projects.includes(run.project)),
        );
        const pages: string[][] = [];
        let after: RunPosition | null = null;
        do {
          const page = await target.query({
            projectIds: projects?.map((name) => projectIds.get(name) ?? ""),
            selection,
            order: descending ? "desc" : "asc",
            after,
            limit,
            payloads: [],
          });
          pages.push(page.runs.map(({ run }) => run.id));
          after = page.next;
        } while (after !== null);
        expect(pages.flat()).toEqual(inOrder(chosen, descending));
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      });
      await fc.assert(property, { seed, numRuns: 50 });
    },
  );

  test("have no run twice, and miss none, while others are added and removed", async ({
    expect,
  }) => {
    const target = new TestStore();
    const at = (index: number) => new Date(NOON.getTime() + (index % 3) * DAY_MS);
    const stay = Array.from({ length: 60 }, (_, index) => root({ start: at(index) }));
    const go = Array.from({ length: 30 }, (_, index) => root({ start: at(index) }));
    await target.post(...stay, ...go);
    for (const order of ["asc", "desc"] as const) {
      const seen: string[] = [];
      let after: RunPosition | null = null;
      for (let page = 0; page === 0 || after !== null; page += 1) {
        const found = await target.query({ order, after, limit: 7 });
        seen.push(...found.runs.map(({ run }) => run.id));
        after = found.next;
        await target.post(...Array.from({ length: 3 }, (_, index) => root({ start: at(index) })));
        // The run at the end of the page is among the removed ones.
        const last = go.find(({ id }) => id === seen.at(-1)) ?? go[page];
        for (const ref of await target.shards()) {
          await shardStub(env, ref).deleteTraces(ref, [last?.trace_id ?? ""]);
        }
      }
      expect(new Set(seen).size).toBe(seen.length);
      const ofThose = new Set(stay.map(({ id }) => id));
      const expected = stay.toSorted((left, right) => {
        const sign = order === "asc" ? 1 : -1;
        return sign * (`${left.start_time}${left.id}` < `${right.start_time}${right.id}` ? -1 : 1);
      });
      expect(seen.filter((id) => ofThose.has(id))).toEqual(expected.map(({ id }) => id));
    }
  });

  test("have no early end when payloads are large", async ({ expect }) => {
    const target = new TestStore();
    const text = "x".repeat(60_000);
    const many = Array.from({ length: 250 }, () => root({ start: NOON, inputs: { text } }));
    for (let from = 0; from < many.length; from += 50) {
      await target.post(...many.slice(from, from + 50));
    }
    const { runs, next } = await target.query({ limit: 200 });
    expect(runs.map(({ run }) => run.id)).toEqual(many.slice(0, 200).map(({ id }) => id));
    expect(next).toEqual({ startTime: NOON.getTime() * 1000, id: many[199]?.id });
  });
});

describe("a run whose start is on another day than its position", () => {
  test("is found by its start, and by its trace", async ({ expect }) => {
    const target = new TestStore();
    const parent = root({ start: NOON });
    const late = child(parent, {
      start: NOON,
      start_time: new Date(NOON.getTime() + 5 * DAY_MS).toISOString(),
    });
    const early = child(parent, { start: NOON, start_time: "1970-01-02T00:00:00Z" });
    await target.post(parent, late, early);
    const micros = (days: number) => (NOON.getTime() + days * DAY_MS) * 1000;
    expect(await target.ids({ from: micros(4) })).toEqual([late.id]);
    expect(await target.ids({ to: micros(-4) })).toEqual([early.id]);
    expect(await target.ids({ from: micros(0), to: micros(0) })).toEqual([parent.id]);
    expect(await target.ids({ traceId: parent.id })).toEqual([early.id, parent.id, late.id]);
    expect(await target.ids({ from: micros(4), traceId: parent.id })).toEqual([late.id]);
  });

  test("is found after an update has moved its start", async ({ expect }) => {
    const target = new TestStore();
    const [run, other] = [root({ start: NOON }), root({ start: new Date("2026-03-05T12:00:00Z") })];
    await target.post(run, other);
    const { id, trace_id, dotted_order } = run;
    await target.patch({ id, trace_id, dotted_order, start_time: "2026-03-09T00:00:00Z" });
    expect(await target.ids()).toEqual([other.id, run.id]);
    expect(await target.ids({ from: Date.parse("2026-03-08T00:00:00Z") * 1000 })).toEqual([run.id]);
    await target.patch({ id, trace_id, dotted_order, start_time: "2026-02-01T00:00:00Z" });
    expect(await target.ids()).toEqual([run.id, other.id]);
    expect(await target.ids({ to: Date.parse("2026-02-02T00:00:00Z") * 1000 })).toEqual([run.id]);
  });
});
