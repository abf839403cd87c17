import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** What D1 holds of bulk exports: where they go, what was asked for, and how far each has come. */

export const EXPORT_STATUSES = [
  "CREATED",
  "RUNNING",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
  "TIMEDOUT",
] as const;

export type ExportStatus = (typeof EXPORT_STATUSES)[number];

export const EXPORT_FORMAT_VERSIONS = ["v1", "v2_beta"] as const;

export type ExportFormatVersion = (typeof EXPORT_FORMAT_VERSIONS)[number];

export const EXPORT_COMPRESSIONS = ["none", "gzip", "snappy", "zstandard"] as const;

export type ExportCompression = (typeof EXPORT_COMPRESSIONS)[number];

export const exportDestinations = sqliteTable(
  "export_destinations",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    display_name: text().notNull(),
    bucket_name: text().notNull(),
    prefix: text().notNull(),
    region: text(),
    endpoint_url: text(),
    include_bucket_in_prefix: integer({ mode: "boolean" }).notNull(),
    /** Which row of `export_credentials` new attempts use; null: those of the installation. */
    credentials_version: integer(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** Set: invisible, and without credentials. */
    deleted_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    index("export_destinations_by_creation").on(table.workspace_id, table.created_at),
  ],
);

/** Versions that a running attempt still uses stay until it ends. */
export const exportCredentials = sqliteTable(
  "export_credentials",
  {
    workspace_id: text().notNull(),
    destination_id: text().notNull(),
    version: integer().notNull(),
    /** The members as JSON, encrypted; see `secrets/secret-box.ts`. */
    sealed: text().notNull(),
    /** The version of the encryption key. */
    key_version: integer().notNull(),
    /** JSON list of the members' names. */
    names: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.destination_id, table.version] }),
    index("export_credentials_by_key").on(table.key_version),
  ],
);

export const bulkExports = sqliteTable(
  "bulk_exports",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    destination_id: text().notNull(),
    project_id: text().notNull(),
    /** Bounds of the runs' start in microseconds; the end is exclusive and null for a schedule. */
    start_time: integer().notNull(),
    end_time: integer(),
    filter: text(),
    format_version: text({ enum: EXPORT_FORMAT_VERSIONS }).notNull(),
    compression: text({ enum: EXPORT_COMPRESSIONS }).notNull(),
    /** JSON list; null: all columns. */
    export_fields: text(),
    interval_hours: integer(),
    /** The schedule that it was spawned by. */
    source_id: text(),
    status: text({ enum: EXPORT_STATUSES }).notNull(),
    /** Schedules: when the range is due that begins at `next_start`. */
    next_start: integer(),
    next_due_at: integer(),
    /** Why a schedule spawns nothing for now. */
    hold_reason: text(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    started_at: integer(),
    finished_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    index("bulk_exports_by_creation").on(table.workspace_id, table.created_at),
    // The statuses are literals: a bound one would not let SQLite use a partial index.
    index("bulk_exports_waiting")
      .on(table.workspace_id, table.created_at)
      .where(sql`${table.status} = 'CREATED'`),
    index("bulk_exports_running")
      .on(table.workspace_id, table.created_at)
      .where(sql`${table.status} = 'RUNNING'`),
    index("bulk_exports_due")
      .on(table.next_due_at)
      .where(sql`${table.next_due_at} IS NOT NULL`),
    // A range of a schedule is exported once, however often its spawning is tried.
    uniqueIndex("bulk_exports_by_range")
      .on(table.workspace_id, table.source_id, table.start_time)
      .where(sql`${table.source_id} IS NOT NULL`),
  ],
);

/** A partition of a new export; times in microseconds, the end exclusive. */
export type NewPartition = { id: string; start: number; end: number };

/** A partition of an export: the part of its range that lies on one UTC day. */
export const exportRuns = sqliteTable(
  "export_runs",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    export_id: text().notNull(),
    /** Microseconds; the end is exclusive. */
    start_time: integer().notNull(),
    end_time: integer().notNull(),
    status: text({ enum: EXPORT_STATUSES }).notNull(),
    retry_number: integer().notNull().default(0),
    /** JSON object by `retry_<n>`. */
    errors: text(),
    rows_written: integer().notNull().default(0),
    files_written: integer().notNull().default(0),
    /** Behind the last row that is surely in a file. */
    latest_cursor: text(),
    /** JSON: the file that is being written, until it is recorded. */
    pending_upload: text(),
    /** The multipart upload that is open, for whoever has to abort it. */
    open_upload: text(),
    /** Steps in a row that ended without a word since the last file was recorded. */
    interruptions: integer().notNull().default(0),
    /** The version of the destination's credentials when the attempt began. */
    credentials_version: integer(),
    attempt_started_at: integer(),
    /** Who works on it now. */
    lease: text(),
    /** When the next step is due; while somebody works on it, when that lease ends. */
    due_at: integer().notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    finished_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    index("export_runs_by_export").on(table.workspace_id, table.export_id, table.start_time),
    index("export_runs_running")
      .on(table.due_at)
      .where(sql`${table.status} = 'RUNNING'`),
    index("export_runs_open_upload")
      .on(table.status)
      .where(sql`${table.open_upload} IS NOT NULL`),
  ],
);

/** The files of export runs that are complete in the bucket. */
export const exportFiles = sqliteTable(
  "export_files",
  {
    workspace_id: text().notNull(),
    export_run_id: text().notNull(),
    /** From 0, without gaps. */
    number: integer().notNull(),
    /** The key of the object. */
    key: text().notNull(),
    rows: integer().notNull(),
    bytes: integer().notNull(),
    first_start: integer().notNull(),
    last_start: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspace_id, table.export_run_id, table.number] })],
);
