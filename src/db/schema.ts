import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { sql } from "drizzle-orm";
import { REGIONS } from "../lib/region.ts";
import { PLANS } from "../lib/plan-order.ts";

/**
 * The D1 database of a region. Migrations are generated from this file, and repositories derive their row types
 * from it. Keys begin with the tenant. Times are in epoch milliseconds; JSON columns hold text.
 */

/** The workspaces of this region; their plans are in `billing_plans`. */
export const workspaces = sqliteTable("workspaces", {
  id: text().primaryKey(),
  name: text().notNull(),
  created_at: integer().notNull(),
});

export type WorkspaceRow = typeof workspaces.$inferSelect;

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    workspace_id: text()
      .notNull()
      .references(() => workspaces.id),
    name: text().notNull(),
    /** The key's first characters, so that a person can tell keys apart. */
    prefix: text().notNull(),
    /** Hex SHA-256 of the key. The key itself is shown once and not stored. */
    hash: text().notNull(),
    created_at: integer().notNull(),
    last_used_at: integer(),
    revoked_at: integer(),
  },
  (table) => [
    uniqueIndex("api_keys_by_hash").on(table.hash),
    index("api_keys_by_workspace").on(table.workspace_id, table.created_at),
  ],
);

/** Workspaces that an administrator has enrolled for private connectivity. */
export const privateEndpoints = sqliteTable("private_endpoints", {
  workspace_id: text().primaryKey(),
  /** Whether the public hosts refuse the workspace. */
  private_only: integer({ mode: "boolean" }).notNull(),
  /** A JSON list of the networks from which requests to the private hosts may come; empty allows any. */
  networks: text().notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});

const scopeColumns = {
  workspace_id: text().notNull(),
  deployment_id: text().notNull(),
};

const assistantColumns = {
  assistant_id: text().notNull(),
  version: integer().notNull(),
  graph_id: text().notNull(),
  name: text().notNull(),
  description: text(),
  config: text().notNull(),
  context: text().notNull(),
  metadata: text().notNull(),
  created_at: integer().notNull(),
};

/** The current version of each assistant. */
export const assistants = sqliteTable(
  "assistants",
  { ...scopeColumns, ...assistantColumns, updated_at: integer().notNull() },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.deployment_id, table.assistant_id] }),
    index("assistants_by_creation").on(table.workspace_id, table.deployment_id, table.created_at),
    index("assistants_by_graph").on(table.workspace_id, table.deployment_id, table.graph_id),
  ],
);

/** Every version of each assistant, the current one included. */
export const assistantVersions = sqliteTable(
  "assistant_versions",
  { ...scopeColumns, ...assistantColumns },
  (table) => [
    primaryKey({
      columns: [table.workspace_id, table.deployment_id, table.assistant_id, table.version],
    }),
  ],
);

/** The columns of threads that lists and searches need. Each row is written by its ThreadObject. */
export const threads = sqliteTable(
  "threads",
  {
    ...scopeColumns,
    thread_id: text().notNull(),
    status: text({ enum: ["idle", "busy", "interrupted", "error"] }).notNull(),
    metadata: text().notNull(),
    config: text().notNull(),
    state_values: text(),
    interrupts: text().notNull(),
    error: text(),
    /** The JSON columns that were too large and are left empty here; the ThreadObject has them. */
    omitted: text({ enum: ["none", "values", "all"] }).notNull(),
    /** Lengths of the values' JSON text and of all JSON texts together, including omitted ones. */
    values_chars: integer().notNull(),
    json_chars: integer().notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    state_updated_at: integer().notNull(),
    /** The version of the ThreadObject's row. An older version never overwrites a newer one. */
    version: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.deployment_id, table.thread_id] }),
    index("threads_by_update").on(
      table.workspace_id,
      table.deployment_id,
      table.updated_at,
      table.thread_id,
    ),
    index("threads_by_creation").on(
      table.workspace_id,
      table.deployment_id,
      table.created_at,
      table.thread_id,
    ),
    index("threads_by_status").on(
      table.workspace_id,
      table.deployment_id,
      table.status,
      table.updated_at,
      table.thread_id,
    ),
  ],
);

/** Runs that are started on a schedule, as durable work; see `CRON_WORK`. */
export const crons = sqliteTable(
  "crons",
  {
    ...scopeColumns,
    cron_id: text().notNull(),
    assistant_id: text().notNull(),
    /** Null when each run gets its own thread. */
    thread_id: text(),
    /** What happens to that thread after its run; null when `thread_id` is set. */
    on_run_completed: text({ enum: ["delete", "keep"] }),
    schedule: text().notNull(),
    /** An IANA name; null for UTC. */
    timezone: text(),
    end_time: integer(),
    /** 0 or 1. */
    enabled: integer().notNull(),
    /** The fields of the run-creating request, without the assistant and the metadata. */
    payload: text().notNull(),
    metadata: text().notNull(),
    /** The user for whom the runs are made, when the project authenticates its users. */
    principal: text(),
    /** The next tick, whose run is not recorded yet; null when there is none. */
    next_run_at: integer(),
    /** When the sweep looks at the row: at the next tick or, while the row is leased, when the lease ends. */
    due_at: integer(),
    lease: text(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.deployment_id, table.cron_id] }),
    index("crons_by_due").on(table.due_at),
  ],
);

/** The keys that sign the webhooks of a deployment. */
export const webhookKeys = sqliteTable(
  "webhook_keys",
  {
    ...scopeColumns,
    /** Encrypted, as is `previous_key`. */
    signing_key: text().notNull(),
    /** The version of the key of ENCRYPTION_KEYS that has sealed both. */
    key_version: integer().notNull(),
    /** The former key, which signs in addition to the current one until `previous_expires_at`. */
    previous_key: text(),
    previous_expires_at: integer(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspace_id, table.deployment_id] })],
);

/**
 * The paid plans of workspaces in all regions. Rows exist in the US region only; a workspace without a row has the
 * lowest plan.
 */
export const billingPlans = sqliteTable(
  "billing_plans",
  {
    workspace_id: text().primaryKey(),
    /** The region of the workspace and its data. */
    region: text({ enum: REGIONS }).notNull(),
    plan: text({ enum: PLANS }).notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
  },
  (table) => [
    check("billing_plans_plan", sql`${table.plan} IN ('developer', 'plus', 'enterprise')`),
  ],
);

/** The plans that the US region has reported last, and when. Other regions keep them here. */
export const knownPlans = sqliteTable("known_plans", {
  workspace_id: text().primaryKey(),
  plan: text({ enum: PLANS }).notNull(),
  read_at: integer().notNull(),
});
