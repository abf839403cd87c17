import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Workspaces that an administrator has enrolled for private connectivity. */
export const privateEndpoints = sqliteTable("private_endpoints", {
  workspace_id: text().primaryKey(),
  /** Whether the public hosts refuse the workspace. */
  private_only: integer({ mode: "boolean" }).notNull(),
  /** JSON list of the addresses that its requests to the private hosts may come from; empty: any. */
  networks: text().notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
