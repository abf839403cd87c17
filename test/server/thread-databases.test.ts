import { type Client, type Thread } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { ensureWorkspace } from "../../cli/database/identity.ts";
import type { D1 } from "../../cli/database/database.ts";
import { generateApiKey } from "../../src/identity/api-key.ts";
import { testWithServer, type WorkerServer } from "../support/server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

/** The only workspace whose threads are in the main database; those of all others are in a second one. */
const FIRST = { workspaceId: crypto.randomUUID(), name: "the first", apiKey: generateApiKey("us") };

const THREAD_DATABASES = { DB: [FIRST.workspaceId], SECOND: ["*"] };

const test = testWithServer(
  { AGENT_AUTH: "api-key", THREAD_DATABASES: JSON.stringify(THREAD_DATABASES) },
  "project",
  {
    rollouts: true,
    databases: ["SECOND"],
  },
);

type Row = Record<string, string | number | null>;

type Databases = { first: D1; second: D1 };

async function databasesOf({ bindings }: WorkerServer): Promise<Databases> {
  const { DB, SECOND } = (await bindings()) as { DB: D1; SECOND: D1 };
  return { first: DB, second: SECOND };
}

async function workspace(server: WorkerServer) {
  const { id, apiKey } = await makeWorkspace(server, "one with threads");
  return { id, client: server.client({ apiKey }), apiKey };
}

async function rowsOf(database: D1, workspaceId: string): Promise<Row[]> {
  const rows = database.prepare("SELECT * FROM threads WHERE workspace_id = ? ORDER BY thread_id");
  return (await rows.bind(workspaceId).all()).results as Row[];
}

async function insert(database: D1, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = columns.map((column) => `value ->> '${column}'`).join(", ");
  await database
    .prepare(`INSERT INTO threads (${columns.join(", ")}) SELECT ${values} FROM json_each(?)`)
    .bind(JSON.stringify(rows))
    .all();
}

/** Moves the workspace's rows to the first database, where they were before its database was changed. */
async function moveBack({ first, second }: Databases, workspaceId: string): Promise<Row[]> {
  const rows = await rowsOf(second, workspaceId);
  await insert(first, rows);
  await second.prepare("DELETE FROM threads WHERE workspace_id = ?").bind(workspaceId).all();
  return rows;
}

const idsOf = (threads: readonly Thread[]): string[] =>
  threads.map(({ thread_id }) => thread_id).toSorted();

async function threads(client: Client, count: number): Promise<string[]> {
  const made: Thread[] = [];
  while (made.length < count) {
    made.push(await client.threads.create({ metadata: { number: made.length } }));
  }
  return idsOf(made);
}

describe("the threads of a workspace", () => {
  test("are listed in the database that the configuration assigns", async ({ server, expect }) => {
    const { first, second } = await databasesOf(server);
    const other = await workspace(server);
    await ensureWorkspace(server.database, FIRST);
    const client = server.client(FIRST);
    const [ids, own] = [await threads(other.client, 3), await threads(client, 2)];
    await other.client.runs.wait(ids[0] ?? "", "agent", { input: { messages: [] } });
    const counts = await Promise.all(
      [first, second].flatMap((database) =>
        [FIRST.workspaceId, other.id].map(async (id) => (await rowsOf(database, id)).length),
      ),
    );
    expect(counts).toEqual([2, 0, 0, 3]);
    expect(idsOf(await other.client.threads.search({ limit: 10 }))).toEqual(ids);
    expect(idsOf(await client.threads.search({ limit: 10 }))).toEqual(own);
    expect(await other.client.threads.count({ metadata: { number: 1 } })).toBe(1);
    const { body } = await metricsOf(server, other.apiKey);
    expect(body).toEqual({ threads: { idle: 3, busy: 0, interrupted: 0, error: 0 } });
    const checked = await server.fetch("/ok?check_db=1");
    expect([checked.status, await checked.json()]).toEqual([200, { ok: true }]);
  });

  test("are moved there by the sweep of every minute, in their current state", async ({
    server,
    expect,
  }) => {
    const databases = await databasesOf(server);
    const { id, client } = await workspace(server);
    const ids = await threads(client, 3);
    const before = await moveBack(databases, id);
    const [changed = ""] = ids;
    await client.threads.update(changed, { metadata: { number: "a new one" } });
    // There are more rows than are moved at once, and some of them are large.
    const [row = {}] = before;
    const more = Array.from({ length: 120 }, (_, index) => ({
      ...row,
      thread_id: crypto.randomUUID(),
      json_chars: index % 10 === 0 ? 5_000_000 : 100,
    }));
    await insert(databases.first, more);
    const inOtherScope = { ...row, deployment_id: "another", thread_id: crypto.randomUUID() };
    await insert(databases.first, [inOtherScope]);
    await server.sweep();
    expect(await rowsOf(databases.first, id)).toEqual([]);
    const all = [...ids, ...more.map(({ thread_id }) => thread_id)].toSorted();
    const found = await client.threads.search({ limit: 1000 });
    expect(idsOf(found)).toEqual(all);
    expect(found.find(({ thread_id }) => thread_id === changed)?.metadata).toMatchObject({
      number: "a new one",
    });
    const moved = await rowsOf(databases.second, id);
    expect(moved.filter(({ deployment_id }) => deployment_id === "another")).toEqual([
      inOtherScope,
    ]);
    const unchanged = new Set(ids.slice(1));
    expect(moved.filter(({ thread_id }) => unchanged.has(String(thread_id)))).toEqual(
      before.filter(({ thread_id }) => unchanged.has(String(thread_id))),
    );
  });

  test("do not reappear when they were removed before they had been moved", async ({
    server,
    expect,
  }) => {
    const databases = await databasesOf(server);
    const { id, client } = await workspace(server);
    const ids = await threads(client, 20);
    await moveBack(databases, id);
    await Promise.all(ids.slice(0, 5).map((each) => client.threads.delete(each)));
    const meanwhile = ids.slice(5, 10).map((each) => client.threads.delete(each));
    await Promise.all([...meanwhile, server.sweep()]);
    await server.sweep();
    expect(await rowsOf(databases.first, id)).toEqual([]);
    expect(idsOf(await client.threads.search({ limit: 100 }))).toEqual(ids.slice(10));
  });

  test("are deleted with their assistant, wherever they are listed", async ({ server, expect }) => {
    const databases = await databasesOf(server);
    const { id, client } = await workspace(server);
    const { assistant_id } = await client.assistants.create({ graphId: "agent" });
    const made = [];
    for (let count = 0; count < 2; count += 1) {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, assistant_id, { input: { messages: [] } });
      made.push(thread_id);
    }
    await moveBack(databases, id);
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, assistant_id, { input: { messages: [] } });
    await client.assistants.delete(assistant_id, { deleteThreads: true });
    expect([await rowsOf(databases.first, id), await rowsOf(databases.second, id)]).toEqual([
      [],
      [],
    ]);
    for (const each of made) await expect(client.threads.get(each)).rejects.toThrow("404");
  });
});

async function metricsOf(server: WorkerServer, apiKey: string) {
  const answer = await server.fetch("/metrics?format=json", { headers: { "x-api-key": apiKey } });
  return { body: (await answer.json()) as unknown };
}
