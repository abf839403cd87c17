import { env } from "cloudflare:workers";
import { beforeAll, describe, inject, test } from "vitest";
import { ensureProject } from "../../src/tracing/projects/project-cache.ts";
import { dayOf } from "../../src/lib/utc-day.ts";
import { segment } from "../support/trace-data.ts";
import {
  child,
  countIn,
  PROJECT,
  payloadText,
  root,
  runAlarms,
  TestStore,
  updateOf,
} from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const NOON = new Date("2026-03-01T12:00:00Z");
const NEXT_NOON = new Date("2026-03-02T12:00:00Z");

/** Returns the stored `extra`, parsed. */
async function extraOf(store: TestStore, id: string): Promise<unknown> {
  return JSON.parse((await payloadText(await store.run(id), "extra")) ?? "null");
}

describe("an update", () => {
  test("finds its run by the id alone", async ({ expect }) => {
    const store = new TestStore();
    const run = root({ start: NOON });
    await store.post(run);
    const body = { id: run.id, end_time: "2026-03-01T12:00:01Z" };
    expect(await store.patch(body)).toEqual([]);
    expect(await store.run(run.id)).toMatchObject({ status: "success", name: "a run" });
  });

  test.for([
    ["2026-03-01T12:00:00.000Z", 7],
    ["2026-03-01T11:59:59.999Z", -1000],
  ] as const)(
    "with the end %s ends the run at %i microseconds",
    async ([end_time, micros], { expect }) => {
      const store = new TestStore();
      // LangChain's tracers write this for the seventh run of a trace, whose times they know to the millisecond.
      const run = { ...root({ start: NOON }), start_time: "2026-03-01T12:00:00.000007Z" };
      await store.post(run);
      await store.patch({ id: run.id, end_time });
      expect((await store.run(run.id)).end_time).toBe(NOON.getTime() * 1000 + micros);
    },
  );

  test("of an unknown run fails if it has no position", async ({ expect }) => {
    const store = new TestStore();
    const { id } = root();
    const failure = { runId: id, field: "id", message: `Run ${id} not found`, status: 404 };
    expect(await store.patch({ id, outputs: {} })).toEqual([failure]);
    expect(await store.ids()).toEqual([]);
  });

  test("of a deleted run fails, and leaves nothing in R2", async ({ expect }) => {
    const store = new TestStore();
    const run = root({ start: NOON });
    const other = root({ start: NOON });
    await store.post(run, other);
    const shard = await store.shardOn(NOON);
    await env.RUN_SHARDS.getByName(Object.values(shard).join("/")).deleteTraces(shard, [run.id]);
    const failures = await store.patch({ id: run.id, outputs: { text: "x".repeat(70_000) } });
    expect(failures).toMatchObject([{ runId: run.id, status: 404 }]);
    await runAlarms([shard]);
    expect(await store.objects()).toEqual([]);
  });

  test("without a position stays in the run's project, whatever project it names", async ({
    expect,
  }) => {
    const store = new TestStore();
    const run = root({ start: NOON });
    await store.post(run);
    const body = { id: run.id, session_name: "another", outputs: { a: 1 } };
    expect(await store.patch(body)).toEqual([]);
    const found = await store.select({ ids: [run.id] });
    expect(found.map(({ ref }) => ref.projectId)).toEqual([await store.projectId()]);
    expect(await payloadText(await store.run(run.id), "outputs")).toBe('{"a":1}');
  });

  test("without a project belongs to the run's", async ({ expect }) => {
    const store = new TestStore();
    const run = root({ start: NOON });
    const { session_name: _, ...update } = updateOf(run, { outputs: { a: 1 } });
    await store.post(run);
    expect(await store.patch(update)).toEqual([]);
    expect((await store.shards()).map(({ projectId }) => projectId)).toEqual([
      await store.projectId(),
    ]);
    expect(await store.run(run.id)).toMatchObject({ name: "a run", outputs_preview: '{"a":1}' });
  });
});

describe("a create", () => {
  test("without a position is a root, or below its parent", async ({ expect }) => {
    const store = new TestStore();
    const parent = root({ start: NOON });
    const alone = { id: crypto.randomUUID(), name: "alone", run_type: "chain" };
    const below = { id: crypto.randomUUID(), name: "below", run_type: "tool" };
    await store.post(parent);
    const times = { start_time: NEXT_NOON.toISOString(), session_name: PROJECT };
    const failures = await store.post(
      { ...alone, ...times },
      { ...below, ...times, parent_run_id: parent.id },
      {
        id: parent.id.replace(/^./, "f"),
        name: "x",
        run_type: "llm",
        ...times,
        parent_run_id: below.id,
      },
    );
    expect(failures).toEqual([]);
    expect(await store.run(alone.id)).toMatchObject({
      trace_id: alone.id,
      parent_run_id: null,
      dotted_order: segment(NEXT_NOON, alone.id),
    });
    const order = `${parent.dotted_order}.${segment(NEXT_NOON, below.id)}`;
    expect(await store.run(below.id)).toMatchObject({
      trace_id: parent.id,
      parent_run_id: parent.id,
      dotted_order: order,
    });
    const [deepest] = await store.select({ parentRunId: below.id });
    expect(deepest?.run.dotted_order.startsWith(`${order}.`)).toBe(true);
  });

  test("below an unknown parent fails, and no other run with it", async ({ expect }) => {
    const store = new TestStore();
    const good = root({ start: NOON });
    const [id, parent_run_id] = [crypto.randomUUID(), crypto.randomUUID()];
    const orphan = { id, parent_run_id, name: "x", run_type: "llm", start_time: 1 };
    expect(await store.post(orphan, good)).toMatchObject([
      { runId: id, field: "parent_run_id", status: 404 },
    ]);
    expect(await store.ids()).toEqual([good.id]);
  });

  test("in an unknown project fails, and no other run with it", async ({ expect }) => {
    const store = new TestStore();
    const [good, lost] = [root({ start: NOON }), root({ start: NOON })];
    const session_id = crypto.randomUUID();
    expect(await store.post({ ...lost, session_id }, good)).toEqual([
      {
        runId: lost.id,
        field: "session_id",
        message: `session_id: project ${session_id} not found`,
        status: 404,
      },
    ]);
    expect(await store.ids()).toEqual([good.id]);
  });

  test("in another workspace's project fails as if that did not exist", async ({ expect }) => {
    const [store, other] = [new TestStore(), new TestStore()];
    const session_id = await other.projectId();
    const run = root({ start: NOON });
    expect(await store.post({ ...run, session_id })).toMatchObject([{ status: 404 }]);
    expect([await store.ids(), await other.ids()]).toEqual([[], []]);
  });
});

describe("a run is in one shard only", () => {
  test("if the parts of one request disagree about its day", async ({ expect }) => {
    const store = new TestStore();
    const run = root({ start: NOON });
    const update = updateOf(run, { dotted_order: segment(NEXT_NOON, run.id), outputs: { a: 1 } });
    expect(await store.send({ kind: "post", body: run }, { kind: "patch", body: update })).toEqual(
      [],
    );
    const found = await store.select();
    expect(
      found.map(({ run: { id, outputs_preview }, ref }) => [id, outputs_preview, ref.day]),
    ).toEqual([[run.id, '{"a":1}', dayOf(NOON.getTime() * 1000)]]);
  });

  test("if a later request disagrees about its day", async ({ expect }) => {
    const store = new TestStore();
    const run = root({ start: NOON });
    await store.post(run);
    await store.patch(
      updateOf(run, { dotted_order: segment(NEXT_NOON, run.id), outputs: { a: 1 } }),
    );
    const found = await store.select();
    expect(found.map(({ run: { outputs_preview }, ref }) => [outputs_preview, ref.day])).toEqual([
      ['{"a":1}', dayOf(NOON.getTime() * 1000)],
    ]);
  });

  test("of each project that it is sent to", async ({ expect }) => {
    const store = new TestStore();
    const run = root({ start: NOON });
    await store.post(run);
    await store.post({ ...run, session_name: "another" });
    const projects = (await store.select()).map(({ ref }) => ref.projectId);
    expect(projects.toSorted()).toEqual(
      [await store.projectId(), await store.projectId("another")].toSorted(),
    );
  });
});

test("a run that is sent for two traces stays in the first, whose filters still work", async ({
  expect,
}) => {
  const store = new TestStore();
  const [parent, other] = [root({ start: NOON, name: "first" }), root({ start: NOON })];
  const run = child(parent, { start: NOON });
  await store.post(parent, run);
  await store.post({ ...child(other, { start: NOON, id: run.id }), name: "again" });
  expect(await store.run(run.id)).toMatchObject({ trace_id: parent.id, name: "again" });
  expect(await store.ids({ traceFilter: 'eq(name, "first")' })).toEqual(
    [parent.id, run.id].toSorted(),
  );
  expect(await store.ids({ treeFilter: 'eq(name, "again")' })).toHaveLength(2);
});

describe("a value that does not fit into a row", () => {
  const MEGABYTE = "m".repeat(1_000_000);

  test("fails its run in extra, and no other run", async ({ expect }) => {
    const store = new TestStore();
    const [run, other] = [root({ start: NOON }), root({ start: NOON })];
    const extra = (n: number) => ({ metadata: { [`key${n}`]: MEGABYTE } });
    await store.post({ ...run, extra: extra(0) });
    const outputs = { text: "x".repeat(70_000) };
    const failures = await store.send(
      {
        kind: "patch",
        body: updateOf(run, { extra: extra(1), outputs }),
        attachments: { photo: "p" },
      },
      { kind: "patch", body: updateOf(run, { end_time: "2026-03-01T12:00:01Z" }) },
      { kind: "post", body: other },
    );
    expect(failures).toEqual([
      {
        runId: run.id,
        field: "extra",
        message: "extra, merged with its stored value, should be no larger than 1900000 bytes",
        status: 422,
      },
    ]);
    expect(await store.ids()).toContain(other.id);
    const { status, attachments } = await store.run(run.id);
    expect([status, attachments, await extraOf(store, run.id)]).toEqual([
      "success",
      null,
      extra(0),
    ]);
    await runAlarms(await store.shards());
    expect(await store.objects()).toEqual([]);
  });
});

test("attributes that are equal when concatenated are distinguished", async ({ expect }) => {
  const store = new TestStore();
  const metadata = [{ "a\nb": "c" }, { a: "b\nc" }];
  const [one, two] = metadata.map((metadata) => root({ start: NOON, extra: { metadata } }));
  await store.post(one ?? {}, two ?? {});
  for (const [run, key, value] of [
    [one, "a\nb", "c"],
    [two, "a", "b\nc"],
  ] as const) {
    const filter = `and(eq(metadata_key, ${JSON.stringify(key)}), eq(metadata_value, ${JSON.stringify(value)}))`;
    expect(await store.ids({ filter })).toEqual([run?.id]);
  }
});

test("members that are named like those of every object are kept", async ({ expect }) => {
  const store = new TestStore();
  const run = root({ start: NOON });
  const given = '{"metadata":{"__proto__":{"a":1},"constructor":1},"__proto__":{"b":1}}';
  const more =
    '{"metadata":{"__proto__":{"c":2},"toString":null},"__proto__":{"d":null},"valueOf":{"e":1}}';
  await store.post({ ...run, extra: JSON.parse(given) });
  await store.patch(updateOf(run, { extra: JSON.parse(more) }));
  expect(JSON.stringify(await extraOf(store, run.id))).toBe(
    '{"metadata":{"__proto__":{"a":1,"c":2},"constructor":1,"toString":null},' +
      '"__proto__":{"b":1,"d":null},"valueOf":{"e":1}}',
  );
  expect(({} as Record<string, unknown>)["b"]).toBeUndefined();
  const filter = 'and(eq(metadata_key, "__proto__.c"), eq(metadata_value, "2"))';
  expect(await store.ids({ filter })).toEqual([run.id]);
});

test("a repeat of a whole request changes no row", async ({ expect }) => {
  const store = new TestStore();
  const parent = root({
    start: NOON,
    run_type: "chain",
    tags: ["a"],
    extra: { metadata: { k: 1 } },
  });
  const model = child(parent, {
    start: NOON,
    run_type: "llm",
    outputs: { usage_metadata: { input_tokens: 3, total_cost: 0.1 } },
  });
  const tables = ["runs", "long_payloads", "traces", "expected_parents", "outbox", "open_segments"];
  const shard = await store.shardOn(NOON);
  const look = async () => {
    const { received_at: _received, ...row } = await store.run(parent.id);
    return [row, await Promise.all(tables.map((table) => countIn(shard, table)))];
  };
  await store.post(parent, model);
  const before = await look();
  await store.post(model, parent);
  await store.post(parent);
  expect(await look()).toEqual(before);
  expect(before[1]).toEqual([2, 0, 1, 0, 0, 1]);
});

test("projects that are created at the same time with one name are the same", async ({
  expect,
}) => {
  const store = new TestStore();
  await Promise.all(Array.from({ length: 8 }, () => store.post(root({ start: NOON }))));
  expect(new Set((await store.shards()).map(({ projectId }) => projectId)).size).toBe(1);
  expect(await store.ids()).toHaveLength(8);
  expect(await ensureProject(env.DB, store.workspaceId, PROJECT)).toMatchObject({ name: PROJECT });
});
