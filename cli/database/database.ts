import type { SqlRunner } from "../../src/db/tools/sql-runner.ts";
import type { Region } from "../../src/lib/region.ts";
import type { D1 } from "../platform/worker-options.ts";

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
