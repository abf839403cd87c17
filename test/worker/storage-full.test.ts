import { env } from "cloudflare:workers";
import { beforeAll, describe, inject, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { migrateIndex } from "./support.ts";

const SENTENCE =
  "The storage of this installation is full, so the request was not carried out: free some space, and send it again";

beforeAll(() => migrateIndex(inject("migrations")));

/** The platform's binding, as a local server gives it. */
function diskWith(freeBytes: number): Pick<Fetcher, "fetch"> {
  return { fetch: async () => Response.json({ free_bytes: freeBytes }) };
}

/** A database in which every write fails. */
function failingWith(message: string): Partial<D1Database> {
  return {
    prepare: (sql) => env.DB.prepare(sql),
    batch: async () => {
      throw new Error(message);
    },
  };
}

async function check(bindings: object): Promise<{ status: number; body: unknown }> {
  const answer = await createApp().request("/ok?check_db=1", {}, { ...env, ...bindings });
  return { status: answer.status, body: await answer.json() };
}

describe("the check of the database", () => {
  test("writes, and leaves nothing", async ({ expect }) => {
    const count = () => env.DB.prepare("SELECT count(*) AS n FROM workspaces").first("n");
    const before = await count();
    expect(await check({ LOCAL_DISK: diskWith(1e9) })).toEqual({ status: 200, body: { ok: true } });
    expect(await count()).toBe(before);
  });

  test.for([
    ["D1_ERROR: database or disk is full: SQLITE_FULL", {}],
    ["D1_ERROR: Exceeded maximum DB size", {}],
    ["internal error; reference = km8iu3ki7cdihfon4uj01tej", { LOCAL_DISK: diskWith(0) }],
  ] as const)("says that there is no room: %s", async ([message, bindings], { expect }) => {
    const answer = await check({ DB: failingWith(message), ...bindings });
    expect(answer).toEqual({ status: 507, body: { detail: SENTENCE } });
  });

  test("says that there is no room where only new files cannot be made", async ({ expect }) => {
    const answer = await check({ LOCAL_DISK: diskWith(4096) });
    expect(answer).toEqual({ status: 507, body: { detail: SENTENCE } });
  });

  test("takes no other failure for it", async ({ expect }) => {
    const DB = failingWith("internal error; reference = km8iu3ki7cdihfon4uj01tej");
    const body = { detail: "The database does not answer" };
    expect(await check({ DB })).toEqual({ status: 503, body });
    expect(await check({ DB, LOCAL_DISK: diskWith(1e9) })).toEqual({ status: 503, body });
  });
});
