import { type SQL, sql } from "drizzle-orm";

/** A subquery of the values, for `inArray`: one parameter however many they are, of which D1 binds 100 at most. */
export function jsonValues(values: readonly (string | number)[]): SQL {
  return sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;
}
