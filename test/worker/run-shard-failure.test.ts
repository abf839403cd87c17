import { env } from "cloudflare:workers";
import { beforeAll, inject, test } from "vitest";
import { readRun } from "../../src/tracing/ingest/decode/run-body.ts";
import { shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { root, TestStore } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

/** A value that no column accepts. */
const NOT_A_NUMBER = "many" as unknown as number;

test("a request that fails in the middle stores nothing", async ({ expect }) => {
  const store = new TestStore();
  const start = new Date("2026-03-01T12:00:00Z");
  const ref = await store.shardOn(start);
  const [good, bad] = [root({ start }), root({ start })].map((run) =>
    readRun("post", run, { identity: "required" }),
  );
  if (good === undefined || bad === undefined) throw new Error("there are two runs");
  const broken = { ...bad, endTime: NOT_A_NUMBER };
  const write = async (...runs: (typeof good)[]) =>
    shardStub(env, ref).write(ref, runs, "shortlived");

  await write(good);
  const other = { ...good, id: crypto.randomUUID() };
  await expect(write(other, broken)).rejects.toThrow("cannot store TEXT value");
  const page = await shardStub(env, ref).page(
    {},
    { order: "asc", after: null, limit: 10, maxBytes: 1, payloads: [], effort: 1 },
  );
  expect(page.runs.map(({ id }) => id)).toEqual([good.id]);
  expect(await write(bad)).toMatchObject({ projectGone: false, unknown: [] });
});

test("a failing one of concurrent requests stores nothing, and the others are stored", async ({
  expect,
}) => {
  const store = new TestStore();
  const start = new Date("2026-03-01T12:00:00Z");
  const ref = await store.shardOn(start);
  const writes = Array.from({ length: 6 }, () =>
    readRun("post", root({ start }), { identity: "required" }),
  );
  const outcomes = await Promise.allSettled(
    writes.map((write, index) =>
      shardStub(env, ref).write(
        ref,
        [index === 3 ? { ...write, endTime: NOT_A_NUMBER } : write],
        "shortlived",
      ),
    ),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(
    writes.map((_, index) => (index === 3 ? "rejected" : "fulfilled")),
  );
  const page = await shardStub(env, ref).page(
    {},
    { order: "asc", after: null, limit: 10, maxBytes: 1, payloads: [], effort: 1 },
  );
  const stored = writes.filter((_, index) => index !== 3).map(({ id }) => id);
  expect(page.runs.map(({ id }) => id).toSorted()).toEqual(stored.toSorted());
});

test("another isolate's runs for a deleted project are refused", async ({ expect }) => {
  const store = new TestStore();
  const start = new Date("2026-03-01T12:00:00Z");
  const ref = await store.shardOn(start);
  const shard = shardStub(env, ref);
  const write = async (run = root({ start })) =>
    shard.write(ref, [readRun("post", run, { identity: "required" })], "shortlived");
  expect(await write()).toMatchObject({ projectGone: false });
  await env.DB.prepare("UPDATE projects SET deleted_at = 1 WHERE id = ?").bind(ref.projectId).run();
  await shard.close();
  expect(await write()).toMatchObject({ projectGone: true });
});
