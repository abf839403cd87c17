import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, inject, test } from "vitest";
import { threadSearchSchema } from "../../src/agent-server/thread-search/schemas.ts";
import { readJsonText } from "../../src/lib/json-answer.ts";
import { countIndex, searchIndex } from "../../src/agent-server/thread-search/search.ts";
import { countFound, findFirst, findPage, type Scan } from "../../src/db/bounded-scan.ts";
import { sql } from "../../src/db/sql.ts";
import { observedDatabase } from "./observed-database.ts";
import { migrateIndex } from "./support.ts";

const THREADS = 5000;

const everything = { filter: null, metadata: undefined };

let scope = { workspaceId: "", deploymentId: "default" };

beforeAll(() => migrateIndex(inject("migrations")));

beforeEach(async () => {
  scope = { workspaceId: crypto.randomUUID(), deploymentId: "default" };
  await fill(THREADS, "{}");
});

/** Creates threads 1 to `count`; higher numbers were updated earlier. */
async function fill(count: number, values: string): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO threads (workspace_id, deployment_id, thread_id, status, metadata, config,
       state_values, interrupts, error, omitted, values_chars, json_chars, created_at, updated_at,
       state_updated_at, version)
     WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
     SELECT ?, ?, printf('00000000-0000-4000-8000-%012d', n), iif(n % 2, 'idle', 'error'),
       json_object('n', n, 'third', json(iif(n % 3, 'false', 'true'))), '{}', ?, '{}', NULL, 'none', 0, 0, n, 1000000 - n,
       n % 7, 1
     FROM n`,
  )
    .bind(count, scope.workspaceId, scope.deploymentId, values)
    .run();
}

type Search = typeof threadSearchSchema._input;

/** Returns the numbers of the found threads, their total, and the rows that each statement has read. */
async function search(body: Search) {
  const { database, statements } = observedDatabase();
  const found = await searchIndex(
    { ...env, DB: database },
    scope,
    threadSearchSchema.parse(body),
    everything,
  );
  if (found === null) return { code: "too_many_threads", statements };
  const threads: { thread_id: string }[] = JSON.parse(
    (await readJsonText(found.threads, 50_000_000)) ?? "[]",
  );
  const numbers = threads.map(({ thread_id }) => Number(thread_id.slice(-12)));
  return { numbers, total: found.total, statements };
}

const numbers = (test: (n: number) => boolean): number[] =>
  Array.from({ length: THREADS }, (_, index) => index + 1).filter(test);

describe("a search over threads", () => {
  test.for<[string, Search, (n: number) => boolean, (a: number, b: number) => number]>([
    ["metadata", { metadata: { third: true } }, (n) => n % 3 === 0, (a, b) => a - b],
    ["metadata of one", { metadata: { n: 4321 } }, (n) => n === 4321, (a, b) => a - b],
    [
      "metadata and status",
      { metadata: { third: true }, status: "idle", sort_by: "created_at" },
      (n) => n % 3 === 0 && n % 2 === 1,
      (a, b) => b - a,
    ],
    [
      "an order without an index",
      { sort_by: "state_updated_at", sort_order: "asc" },
      () => true,
      (a, b) => (a % 7) - (b % 7) || a - b,
    ],
    ["a status", { status: "error" }, (n) => n % 2 === 0, (a, b) => a - b],
    ["nothing", { sort_by: "thread_id" }, () => true, (a, b) => b - a],
  ])("by %s finds each page", async ([, body, isFound, order], { expect }) => {
    const expected = numbers(isFound).toSorted(order);
    for (const offset of [0, 7, Math.max(expected.length - 3, 0)]) {
      const found = await search({ ...body, limit: 10, offset });
      expect(found.numbers).toEqual(expected.slice(offset, offset + 10));
      expect(found.total).toBe(expected.length);
    }
  });

  test.for<[string, Search]>([
    ["metadata", { metadata: { customer: "nobody" } }],
    ["values", { values: { customer: "nobody" } }],
    ["nothing in an order without an index", { sort_by: "state_updated_at" }],
  ])(
    "by %s blocks the database no longer when there are more rows",
    async ([, body], { expect }) => {
      const few = await search(body);
      scope = { ...scope, workspaceId: crypto.randomUUID() };
      await fill(3 * THREADS, "{}");
      const many = await search(body);
      expect(Math.max(...many.statements)).toBeLessThan(1.5 * Math.max(...few.statements));
    },
  );

  test("reads few rows at a time when they are large", async ({ expect }) => {
    scope = { ...scope, workspaceId: crypto.randomUUID() };
    await fill(40, JSON.stringify({ text: "x".repeat(200_000) }));
    const { statements, total } = await search({ values: { text: "y" } });
    expect(total).toBe(0);
    expect(statements.length).toBeGreaterThanOrEqual(6);
  });

  test("returns a page of any size", async ({ expect }) => {
    scope = { ...scope, workspaceId: crypto.randomUUID() };
    await fill(90, JSON.stringify({ text: "x".repeat(200_000) }));
    await env.DB.prepare(
      "UPDATE threads SET json_chars = length(state_values) WHERE workspace_id = ?",
    )
      .bind(scope.workspaceId)
      .run();
    const { numbers: found, total } = await search({ limit: 100 });
    expect(found).toEqual(Array.from({ length: 90 }, (_, index) => index + 1));
    expect(total).toBe(90);
  });

  test("fails if it would have to read too many threads", async ({ expect }) => {
    const scan: Scan = {
      table: "threads",
      rows: sql("workspace_id = ? AND deployment_id = 'default'", scope.workspaceId),
      key: "thread_id",
      condition: sql("metadata = ?", "nothing"),
      comparisons: 1,
      reads: ["metadata"],
      weighs: [],
      orderBy: "created_at",
    };
    const page = { direction: "asc", limit: 10, offset: 0 } as const;
    expect(await findPage(env.DB, scan, page)).toEqual({ page: [], total: 0 });
    expect(await findPage(env.DB, { ...scan, maxSteps: 3 }, page)).toBeNull();
    expect(await countFound(env.DB, { ...scan, maxSteps: 3 })).toBeNull();
    expect(await findFirst(env.DB, scan, page)).toEqual([]);
    expect(await findFirst(env.DB, { ...scan, maxSteps: 3 }, page)).toBeNull();
    const any = { ...scan, condition: sql("1"), maxSteps: 3 };
    expect(await findFirst(env.DB, any, page)).toHaveLength(10);
  });

  test("counts what it finds", async ({ expect }) => {
    const count = (metadata: object | undefined) =>
      countIndex(env, scope, { metadata: metadata && { ...metadata } }, everything);
    expect(await count({ third: true })).toBe(numbers((n) => n % 3 === 0).length);
    expect(await count(undefined)).toBe(THREADS);
  });
});
