import {
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { sql } from "drizzle-orm";

/**
 * The D1 tables of tracing: projects, the locations of their runs, and related data. RunShardObjects hold the
 * runs.
 */

export const TRACE_TIERS = ["shortlived", "longlived"] as const;

export type TraceTier = (typeof TRACE_TIERS)[number];

/** Tracing projects. The API calls them "sessions". */
export const projects = sqliteTable(
  "projects",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    name: text().notNull(),
    description: text(),
    start_time: integer().notNull(),
    end_time: integer(),
    extra: text(),
    default_dataset_id: text(),
    reference_dataset_id: text(),
    trace_tier: text({ enum: TRACE_TIERS }).notNull(),
    /** The number of shards per day. */
    buckets: integer().notNull().default(1),
    /**
     * JSON of later numbers of shards, in order of time, each with the start of a trace, in microseconds, from
     * which it applies.
     */
    bucket_raises: text(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** When it is set, the project is invisible; its shards are being deleted, and then the row. */
    deleted_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    uniqueIndex("projects_by_name")
      .on(table.workspace_id, table.name)
      .where(sql`${table.deleted_at} IS NULL`),
    index("projects_by_start").on(table.workspace_id, table.start_time),
    index("projects_deleted")
      .on(table.deleted_at)
      .where(sql`${table.deleted_at} IS NOT NULL`),
  ],
);

/** Every RunShardObject that holds runs. The object adds its row before it accepts its first run. */
export const runShards = sqliteTable(
  "run_shards",
  {
    workspace_id: text().notNull(),
    project_id: text().notNull(),
    /** UTC days since 1970-01-01. */
    day: integer().notNull(),
    bucket: integer().notNull(),
    /** Bounds of the runs' start_time in microseconds: those of the day, or wider. */
    first_start: integer().notNull(),
    last_start: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.project_id, table.day, table.bucket] }),
    index("run_shards_by_day").on(table.workspace_id, table.day),
  ],
);

export const feedback = sqliteTable(
  "feedback",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    /** Null for feedback on a project as a whole. */
    run_id: text(),
    trace_id: text(),
    /** Null until the run is known. */
    session_id: text(),
    key: text().notNull(),
    score: real(),
    /** JSON text. */
    value: text(),
    comment: text(),
    correction: text(),
    source_type: text().notNull(),
    feedback_source: text().notNull(),
    feedback_config: text(),
    feedback_group_id: text(),
    comparative_experiment_id: text(),
    error: integer({ mode: "boolean" }).notNull(),
    extra: text(),
    extend_trace_retention: integer({ mode: "boolean" }).notNull(),
    /** The start of the run as stated by the client. */
    start_time: integer(),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
    /** Counts the changes, so that a copy of an earlier state is not taken for the current one. */
    revision: integer().notNull(),
    /** The shard that has a copy; null until there is one. */
    shard_day: integer(),
    shard_bucket: integer(),
    /** When copying is tried next; null when there is nothing to copy. */
    copy_due_at: integer(),
    /** Since when the copy has been missing or out of date. */
    copy_wanted_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    index("feedback_by_run").on(table.workspace_id, table.run_id),
    index("feedback_by_session").on(table.workspace_id, table.session_id, table.created_at),
    index("feedback_by_creation").on(table.workspace_id, table.created_at),
    index("feedback_due")
      .on(table.copy_due_at)
      .where(sql`${table.copy_due_at} IS NOT NULL`),
  ],
);

/** Links through which a person without a key can give one piece of feedback. */
export const feedbackTokens = sqliteTable(
  "feedback_tokens",
  {
    id: text().primaryKey(),
    workspace_id: text().notNull(),
    run_id: text().notNull(),
    feedback_key: text().notNull(),
    feedback_config: text(),
    /** The id under which the link's feedback is stored; a second answer replaces the first. */
    feedback_id: text().notNull(),
    expires_at: integer().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [index("feedback_tokens_by_run").on(table.workspace_id, table.run_id)],
);

export const feedbackConfigs = sqliteTable(
  "feedback_configs",
  {
    workspace_id: text().notNull(),
    feedback_key: text().notNull(),
    feedback_config: text().notNull(),
    is_lower_score_better: integer({ mode: "boolean" }),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspace_id, table.feedback_key] })],
);

/** Public links to a trace. */
export const runShares = sqliteTable(
  "run_shares",
  {
    token: text().primaryKey(),
    workspace_id: text().notNull(),
    project_id: text().notNull(),
    trace_id: text().notNull(),
    /** The id of the run that was shared, which may be the root. */
    run_id: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [uniqueIndex("run_shares_by_run").on(table.workspace_id, table.run_id)],
);

/**
 * A workspace's own prices, which take precedence over the built-in list. Costs are decimal texts in USD per
 * token.
 */
export const modelPrices = sqliteTable(
  "model_prices",
  {
    id: text().primaryKey(),
    workspace_id: text().notNull(),
    name: text().notNull(),
    match_pattern: text().notNull(),
    /** JSON list. */
    match_path: text().notNull(),
    provider: text(),
    start_time: integer(),
    prompt_cost: text().notNull(),
    completion_cost: text().notNull(),
    prompt_cost_details: text(),
    completion_cost_details: text(),
    created_at: integer().notNull(),
  },
  (table) => [index("model_prices_by_workspace").on(table.workspace_id)],
);
