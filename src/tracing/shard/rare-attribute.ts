import type { Sql } from "../../db/sql.ts";

/**
 * With so few runs it is faster to sort them than to look for them in the order of their start; with
 * more of them, the next ones in that order are not far.
 */
const MAX_RUNS = 1000;

/**
 * Of queries for attribute ids, the one with the fewest runs, as a query for the rows of those runs;
 * null when each of them has many.
 */
export function rareAttribute(storage: SqlStorage, queries: readonly Sql[]): Sql | null {
  let fewest = MAX_RUNS + 1;
  let found: Sql | null = null;
  for (const { text, params } of queries) {
    const rows = `SELECT seq FROM run_attributes WHERE attribute_id IN (${text})`;
    const { n } = storage
      .exec<{ n: number }>(`SELECT count(*) AS n FROM (${rows} LIMIT ${fewest})`, ...params)
      .one();
    if (n >= fewest) continue;
    fewest = n;
    found = { text: rows, params };
  }
  return found;
}
