import { env } from "cloudflare:workers";
import { beforeAll, describe, inject, test } from "vitest";
import { firstThreads, scopesWithThreads } from "../../src/db/thread-moves-repo.ts";
import { type ThreadIndexRow, upsertThread } from "../../src/db/threads-repo.ts";
import type { Scope } from "../../src/lib/scope.ts";
import { observedDatabase } from "./observed-database.ts";
import { migrateIndex } from "./support.ts";

const ROWS_OF_A_SCOPE = 400;

beforeAll(() => migrateIndex(inject("migrations")));

function row({ workspaceId, deploymentId }: Scope, index: number, chars = 2): ThreadIndexRow {
  return {
    workspace_id: workspaceId,
    deployment_id: deploymentId,
    thread_id: `t${String(index).padStart(4, "0")}`,
    status: "idle",
    metadata: "{}",
    config: "{}",
    state_values: null,
    interrupts: "{}",
    error: null,
    omitted: "none",
    values_chars: 0,
    json_chars: chars,
    created_at: 1,
    updated_at: 1,
    state_updated_at: 1,
    version: 1,
  };
}

async function store(rows: readonly ThreadIndexRow[]): Promise<void> {
  await env.DB.batch(rows.map((each) => upsertThread(env.DB, each)));
}

describe("the scopes that have threads in a database", () => {
  test("are found with a few look-ups for each, however many threads it has", async ({
    expect,
  }) => {
    // Earlier files share the database.
    await env.DB.exec("DELETE FROM threads");
    expect(await scopesWithThreads(env.DB)).toEqual([]);
    const scopes = [
      { workspaceId: "a", deploymentId: "default" },
      { workspaceId: "a", deploymentId: "other" },
      { workspaceId: "b", deploymentId: "default" },
    ];
    for (const scope of scopes) {
      await store(Array.from({ length: ROWS_OF_A_SCOPE }, (_, index) => row(scope, index)));
    }
    const { database, statements } = observedDatabase();
    expect(await scopesWithThreads(database)).toEqual(scopes);
    expect(Math.max(...statements)).toBeLessThan(10 * scopes.length);
  });
});

describe("the first threads of a scope", () => {
  test("are as many as there is room for, and at least one", async ({ expect }) => {
    const scope = { workspaceId: "w", deploymentId: "d" };
    await store([row(scope, 0, 500), row(scope, 1, 40), row(scope, 2, 40), row(scope, 3, 40)]);
    await store([row({ ...scope, deploymentId: "e" }, 0)]);
    const ids = async (room: { rows: number; chars: number }): Promise<string[]> =>
      (await firstThreads(env.DB, scope, room)).map(({ thread_id }) => thread_id);
    expect(await ids({ rows: 10, chars: 10_000 })).toEqual(["t0000", "t0001", "t0002", "t0003"]);
    expect(await ids({ rows: 2, chars: 10_000 })).toEqual(["t0000", "t0001"]);
    expect(await ids({ rows: 10, chars: 580 })).toEqual(["t0000", "t0001", "t0002"]);
    expect(await ids({ rows: 10, chars: 10 })).toEqual(["t0000"]);
    expect(await firstThreads(env.DB, scope, { rows: 1, chars: 1 })).toEqual([row(scope, 0, 500)]);
  });
});
