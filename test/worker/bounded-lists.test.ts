import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, inject, test } from "vitest";
import { listDeployments } from "../../src/db/deployments-repo.ts";
import { listFeedbackConfigs } from "../../src/db/feedback-configs-repo.ts";
import {
  type FeedbackFilter,
  findFeedback,
  findProjectFeedback,
} from "../../src/db/feedback-pages.ts";
import { findProjects, type ProjectFilter, readProjects } from "../../src/db/projects-repo.ts";
import { observedDatabase } from "./observed-database.ts";
import { migrateIndex } from "./support.ts";

const FEW = 6000;
const MANY = 18_000;

let workspaceId = "";

beforeAll(() => migrateIndex(inject("migrations")));

beforeEach(() => {
  workspaceId = crypto.randomUUID();
});

const COUNTED = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)";

const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Adds projects. Project `n` starts at `n`, and the first letter of its name depends on `n` modulo seven. */
async function addProjects(count: number, extra = "{}"): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO projects (id, workspace_id, name, start_time, extra, trace_tier, buckets, created_at,
       updated_at, deleted_at)
     ${COUNTED} SELECT printf('00000000-0000-4000-8000-%012d', n), ?2,
       printf('%s-%08d', char(97 + n % 7), n), n, ?3, 'shortlived', 1, n, n, iif(n % 10 = 0, 1, NULL) FROM n`,
  )
    .bind(count, workspaceId, extra)
    .run();
}

/** Adds feedback. Feedback `n` was given at `n`; every fifth is about its project as a whole. */
async function addFeedback(count: number): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO feedback (id, workspace_id, run_id, session_id, key, source_type, feedback_source, error,
       extend_trace_retention, created_at, modified_at, revision)
     ${COUNTED} SELECT printf('00000000-0000-4000-8000-%012d', n), ?2, iif(n % 5 = 0, NULL, 'run ' || (n % 500)),
       'project ' || (n % 2), 'key ' || (n % 7), 'api', json_object('user_id', 'user ' || (n % 3)), 0, 0,
       n, n, 1 FROM n`,
  )
    .bind(count, workspaceId)
    .run();
}

async function addConfigs(count: number): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO feedback_configs (workspace_id, feedback_key, feedback_config, created_at, modified_at)
     ${COUNTED} SELECT ?2, printf('key-%08d', n), '{"type":"freeform"}', n, n FROM n`,
  )
    .bind(count, workspaceId)
    .run();
}

async function addDeployments(count: number): Promise<void> {
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO deployments (workspace_id, id, name, slug, source, source_config, status,
         latest_revision_id, deletes_project, created_at, updated_at)
       ${COUNTED} SELECT ?2, ?2 || n, printf('name-%08d', n), ?2 || n, 'internal_source', '{}',
         'READY', ?2 || 'r' || n, 0, n, n FROM n`,
    ).bind(count, workspaceId),
    env.DB.prepare(
      `INSERT INTO revisions (workspace_id, deployment_id, id, status, source, secrets, created_at,
         updated_at, attempts)
       ${COUNTED} SELECT ?2, ?2 || n, ?2 || 'r' || n, 'DEPLOYED', 'internal_source', '{}', n, n, 0 FROM n`,
    ).bind(count, workspaceId),
  ]);
}

const numbers = (count: number, test: (n: number) => boolean): number[] =>
  Array.from({ length: count }, (_, index) => index + 1).filter(test);

const PAGE = { limit: 10, offset: 0 };

type List = (db: D1Database) => Promise<unknown>;

/** Lists that find nothing, each with the function that adds rows. */
const LISTS: [string, (count: number) => Promise<void>, List][] = [
  ...(
    [
      ["projects by metadata", { metadata: { customer: "nobody" } }],
      ["projects by a part of the name", { nameContains: "nobody" }],
      ["projects by their dataset", { referenceDatasetIds: [id(1)] }],
    ] satisfies [string, ProjectFilter][]
  ).map(([title, filter]): (typeof LISTS)[number] => [
    title,
    addProjects,
    (db) =>
      findProjects(db, workspaceId, filter, { sortBy: "start_time", descending: true, ...PAGE }),
  ]),
  ...(
    [
      ["feedback by its key", { keys: ["nothing"] }],
      ["feedback of a project by its user", { sessionIds: ["project 1"], userIds: ["nobody"] }],
      ["feedback of a time by its level", { to: 1e9, from: 0, level: "run", hasScore: true }],
    ] satisfies [string, FeedbackFilter][]
  ).map(([title, filter]): (typeof LISTS)[number] => [
    title,
    addFeedback,
    (db) => findFeedback(db, workspaceId, filter, PAGE),
  ]),
  [
    "feedback about projects",
    addFeedback,
    (db) => findProjectFeedback(db, workspaceId, ["project 2"], 10),
  ],
  [
    "feedback configs by a part of their key",
    addConfigs,
    (db) => listFeedbackConfigs(db, workspaceId, { keys: undefined, nameContains: "nobody" }, PAGE),
  ],
  [
    "deployments by a part of their name",
    addDeployments,
    (db) => listDeployments(db, workspaceId, { nameContains: "nobody" }, PAGE),
  ],
];

test.for(LISTS)(
  "a list of %s blocks the database no longer when there are more rows",
  async (of, { expect }) => {
    const [, add, list] = of;
    const longest = async (count: number): Promise<number> => {
      workspaceId = crypto.randomUUID();
      await add(count);
      const { database, statements } = observedDatabase();
      expect(await list(database)).toEqual([]);
      return Math.max(...statements);
    };
    const few = await longest(FEW);
    expect(await longest(MANY)).toBeLessThan(1.5 * few);
  },
);

describe("projects", () => {
  const isThere = (n: number): boolean => n % 10 !== 0;

  async function list(filter: ProjectFilter, order: object = {}, database = env.DB) {
    const page = { sortBy: "start_time" as const, descending: true, ...PAGE, ...order };
    const found = await findProjects(database, workspaceId, filter, page);
    const names: string[] = [];
    for await (const { name } of readProjects(database, workspaceId, found ?? [])) names.push(name);
    return names.map((name) => Number(name.slice(2)));
  }

  test("are found in the requested order", async ({ expect }) => {
    await addProjects(FEW);
    const all = numbers(FEW, isThere);
    expect(await list({})).toEqual(all.slice(-10).toReversed());
    expect(await list({}, { descending: false, offset: 20 })).toEqual(all.slice(20, 30));
    const thirds = all.filter((n) => n % 7 === 3);
    expect(await list({ nameContains: "D-" })).toEqual(thirds.slice(-10).toReversed());
    expect(await list({}, { sortBy: "name", descending: false })).toEqual(
      all.filter((n) => n % 7 === 0).slice(0, 10),
    );
    expect(await list({ ids: [7, 3, 10, 5].map(id) })).toEqual([7, 5, 3]);
    expect(await list({ name: "d-00000003" })).toEqual([3]);
  });

  test("of the first page are found without reading all others", async ({ expect }) => {
    const rowsRead = async (count: number): Promise<number> => {
      workspaceId = crypto.randomUUID();
      await addProjects(count);
      const { database, statements } = observedDatabase();
      expect(await list({}, {}, database)).toHaveLength(10);
      return statements.reduce((sum, rows) => sum + rows, 0);
    };
    expect(await rowsRead(MANY)).toBe(await rowsRead(FEW));
  });

  test("are read a few at a time when they are large", async ({ expect }) => {
    await addProjects(45, JSON.stringify({ metadata: { text: "x".repeat(200_000) } }));
    const { database, statements } = observedDatabase();
    expect(await list({ metadata: { text: "y" } }, {}, database)).toEqual([]);
    expect(statements.length).toBeGreaterThanOrEqual(8);
  });

  test("are read on demand", async ({ expect }) => {
    await addProjects(45, JSON.stringify({ metadata: { text: "x".repeat(200_000) } }));
    const order = { sortBy: "name", descending: false, limit: 100, offset: 0 } as const;
    const found = await findProjects(env.DB, workspaceId, {}, order);
    const { database, statements } = observedDatabase();
    const rows = readProjects(database, workspaceId, found ?? [])[Symbol.asyncIterator]();
    await rows.next();
    expect(statements).toHaveLength(1);
    let count = 1;
    while ((await rows.next()).done !== true) count += 1;
    expect(count).toBe(41);
    expect(statements).toHaveLength(9);
  });
});

describe("feedback", () => {
  async function list(filter: FeedbackFilter, page = PAGE) {
    const found = await findFeedback(env.DB, workspaceId, filter, page);
    return found?.map(({ key }) => Number(String(key).slice(-12)));
  }

  test("is found newest first, with any filter", async ({ expect }) => {
    await addFeedback(FEW);
    const newest = (test: (n: number) => boolean) => numbers(FEW, test).toReversed();
    expect(await list({}, { limit: 10, offset: 1500 })).toEqual(
      newest(() => true).slice(1500, 1510),
    );
    expect(await list({ keys: ["key 3"] })).toEqual(newest((n) => n % 7 === 3).slice(0, 10));
    expect(await list({ sessionIds: ["project 1"], level: "session" })).toEqual(
      newest((n) => n % 2 === 1 && n % 5 === 0).slice(0, 10),
    );
    expect(await list({ from: 5, to: 8 })).toEqual([8, 7, 6, 5]);
    expect(await list({ runIds: ["run 7", "run 8"], userIds: ["user 1"] })).toEqual(
      newest((n) => [7, 8].includes(n % 500) && n % 3 === 1).slice(0, 10),
    );
  });

  test("of a run is found even if there is more than is sorted at once", async ({ expect }) => {
    await addFeedback(6000);
    await env.DB.prepare("UPDATE feedback SET run_id = 'all' WHERE workspace_id = ?")
      .bind(workspaceId)
      .run();
    expect(await list({ runIds: ["all"] })).toEqual(
      numbers(6000, () => true)
        .slice(-10)
        .toReversed(),
    );
  });
});
