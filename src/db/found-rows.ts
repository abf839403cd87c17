import { type Found, type Scan, toReads } from "./bounded-scan.ts";

/** The rows of the page, in its order; without those that are gone meanwhile. */
export async function* readFound<Row>(
  db: D1Database,
  { table, key, rows }: Scan,
  page: readonly Found[],
): AsyncGenerator<Row> {
  for (const part of toReads(page)) {
    const { results } = await db
      .prepare(
        `SELECT ${key} AS scanned_key, * FROM ${table}
         WHERE ${rows.text} AND ${key} IN (SELECT value FROM json_each(?))`,
      )
      .bind(...rows.params, JSON.stringify(part.map((found) => found.key)))
      .all<Row & { scanned_key: string | number }>();
    const byKey = new Map(results.map(({ scanned_key, ...row }) => [scanned_key, row as Row]));
    for (const found of part) {
      const row = byKey.get(found.key);
      if (row !== undefined) yield row;
    }
  }
}
