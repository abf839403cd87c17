import type { D1 } from "../platform/worker-options.ts";

export type SqlValue = string | number | null;
export type SqlRow = Record<string, unknown>;

/** A D1 database, on this machine or Cloudflare's. */
export type Database = {
  run: (sql: string, values?: SqlValue[]) => Promise<SqlRow[]>;
};

export function localDatabase(database: D1): Database {
  return {
    run: async (sql, values = []) => {
      const { results } = await database
        .prepare(sql)
        .bind(...values)
        .all();
      return results;
    },
  };
}
