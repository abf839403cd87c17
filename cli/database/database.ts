import type { SqlRunner } from "../../src/db/tools/sql-runner.ts";
import type { Region } from "../../src/lib/region.ts";

/** What the tools use of a D1 binding; those of Miniflare, of node:sqlite and of `worker-calls.ts` have it. */
export type D1 = {
  prepare: (sql: string) => D1Statement;
  // A method: each kind of database takes the statements that it has prepared.
  batch(statements: D1Statement[]): Promise<unknown>;
};

export type D1Statement = {
  bind: (...values: (string | number | null)[]) => D1Statement;
  all: () => Promise<{ results: Record<string, unknown>[] }>;
};

/** A D1 database, on this machine or Cloudflare's. */
export type Database = SqlRunner & {
  /** The region whose it is; the US when absent. */
  region?: Region;
  /** That of the US region, which alone has billing rows, where another region's tools can reach it. */
  billing?: Database;
};

export function localDatabase(database: D1, region: Region = "us"): Database {
  return {
    region,
    run: async (sql, values = []) => {
      const { results } = await database
        .prepare(sql)
        .bind(...values)
        .all();
      return results;
    },
  };
}
