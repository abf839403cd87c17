import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";

export type Database = DrizzleD1Database;

export function database(env: { DB: D1Database }): Database {
  return drizzle(env.DB);
}
