import { type SQL, sql } from "drizzle-orm";

/** Returns a subquery of the values, for `inArray`. It is a single parameter, because D1 binds at most 100. */
export function jsonValues(values: readonly (string | number)[]): SQL {
  return sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;
}
