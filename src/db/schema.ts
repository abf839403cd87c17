import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

// Times are integers, epoch milliseconds. The tenant is the first column of every key.

export const PLANS = ["developer", "plus", "enterprise"] as const;

export type Plan = (typeof PLANS)[number];

type JsonObject = Record<string, unknown>;

export const workspaces = sqliteTable("workspaces", {
  id: text().primaryKey(),
  name: text().notNull(),
  plan: text({ enum: PLANS }).notNull(),
  createdAt: integer("created_at").notNull(),
});

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    workspaceId: text("workspace_id")
      .notNull()
      .references(() => workspaces.id),
    name: text().notNull(),
    /** The key's first characters, so that a person can tell keys apart. */
    prefix: text().notNull(),
    /** Hex SHA-256 of the key. The key itself is shown once and not stored. */
    hash: text().notNull(),
    createdAt: integer("created_at").notNull(),
    lastUsedAt: integer("last_used_at"),
    revokedAt: integer("revoked_at"),
  },
  (table) => [
    uniqueIndex("api_keys_by_hash").on(table.hash),
    index("api_keys_by_workspace").on(table.workspaceId, table.createdAt),
  ],
);

const scopeColumns = {
  workspaceId: text("workspace_id").notNull(),
  deploymentId: text("deployment_id").notNull(),
};

const assistantContent = {
  assistantId: text("assistant_id").notNull(),
  version: integer().notNull(),
  graphId: text("graph_id").notNull(),
  name: text().notNull(),
  description: text(),
  config: text({ mode: "json" }).$type<JsonObject>().notNull(),
  context: text({ mode: "json" }).$type<JsonObject>().notNull(),
  metadata: text({ mode: "json" }).$type<JsonObject>().notNull(),
  createdAt: integer("created_at").notNull(),
};

/** The active version of each assistant. */
export const assistants = sqliteTable(
  "assistants",
  { ...scopeColumns, ...assistantContent, updatedAt: integer("updated_at").notNull() },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.deploymentId, table.assistantId] }),
    index("assistants_by_creation").on(table.workspaceId, table.deploymentId, table.createdAt),
  ],
);

/** Every version of each assistant, the active one included. */
export const assistantVersions = sqliteTable(
  "assistant_versions",
  { ...scopeColumns, ...assistantContent },
  (table) => [
    primaryKey({
      columns: [table.workspaceId, table.deploymentId, table.assistantId, table.version],
    }),
  ],
);

/** What lists and searches need of threads; each row is written by its ThreadObject. */
export const threads = sqliteTable(
  "threads",
  {
    ...scopeColumns,
    threadId: text("thread_id").notNull(),
    status: text({ enum: ["idle", "busy", "interrupted", "error"] }).notNull(),
    metadata: text().notNull(),
    config: text().notNull(),
    /** JSON; null when there are none, or when `valuesOmitted`. */
    values: text("state_values"),
    /** The values are too large for the index: they are read from the ThreadObject. */
    valuesOmitted: integer("values_omitted", { mode: "boolean" }).notNull(),
    interrupts: text().notNull(),
    error: text(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    stateUpdatedAt: integer("state_updated_at").notNull(),
    /** Of the ThreadObject's row: an older one never overwrites a newer one. */
    version: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.deploymentId, table.threadId] }),
    index("threads_by_update").on(table.workspaceId, table.deploymentId, table.updatedAt),
    index("threads_by_creation").on(table.workspaceId, table.deploymentId, table.createdAt),
    index("threads_by_status").on(table.workspaceId, table.deploymentId, table.status),
  ],
);
