import type { SqlRunner } from "../../src/db/tools/sql-runner.ts";
import type { Region } from "../../src/lib/region.ts";

/**
 * The part of a D1 binding that the tools use; the databases of Miniflare, node:sqlite and `worker-calls.ts`
 * implement it.
 */
export type D1 = {
  prepare: (sql: string) => D1Statement;
  // Declared as a method: each kind of database only accepts statements that it has prepared itself.
  batch(statements: D1Statement[]): Promise<unknown>;
};

export type D1Statement = {
  bind: (...values: (string | number | null)[]) => D1Statement;
  all: () => Promise<{ results: Record<string, unknown>[] }>;
};

/** A D1 database, either a local one or one at Cloudflare. */
export type Database = SqlRunner & {
  /** The region that the database belongs to; the US when absent. */
  region?: Region;
  /** The US region's database, which alone stores billing rows, when the tools of another region can reach it. */
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
