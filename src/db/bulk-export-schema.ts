import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** The D1 tables of bulk exports: destinations, credentials, exports, their progress and their files. */

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
    /** The version in `export_credentials` that new attempts use; null for the installation's own credentials. */
    credentials_version: integer(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** When it is set, the destination is invisible and has no credentials. */
    deleted_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    index("export_destinations_by_creation").on(table.workspace_id, table.created_at),
  ],
);

/** Versions of credentials. A version that a running attempt uses is kept until the attempt ends. */
export const exportCredentials = sqliteTable(
  "export_credentials",
  {
    workspace_id: text().notNull(),
    destination_id: text().notNull(),
    version: integer().notNull(),
    /** The credentials' members as JSON, encrypted; see `secrets/secret-box.ts`. */
    sealed: text().notNull(),
    /** The version of the encryption key. */
    key_version: integer().notNull(),
    /** A JSON list of the members' names. */
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
    /** The range of the runs' start times in microseconds. The end is exclusive, and null for a schedule. */
    start_time: integer().notNull(),
    end_time: integer(),
    filter: text(),
    format_version: text({ enum: EXPORT_FORMAT_VERSIONS }).notNull(),
    compression: text({ enum: EXPORT_COMPRESSIONS }).notNull(),
    /** A JSON list; null for all columns. */
    export_fields: text(),
    interval_hours: integer(),
    /** The schedule that spawned this export. */
    source_id: text(),
    status: text({ enum: EXPORT_STATUSES }).notNull(),
    /** Set for a schedule: the start of the next range, and the time at which that range is due. */
    next_start: integer(),
    next_due_at: integer(),
    /** Why the schedule spawns no exports at present. */
    hold_reason: text(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    started_at: integer(),
    finished_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    index("bulk_exports_by_creation").on(table.workspace_id, table.created_at),
    // The statuses are literals: SQLite cannot use a partial index for a bound status.
    index("bulk_exports_waiting")
      .on(table.workspace_id, table.created_at)
      .where(sql`${table.status} = 'CREATED'`),
    index("bulk_exports_running")
      .on(table.workspace_id, table.created_at)
      .where(sql`${table.status} = 'RUNNING'`),
    index("bulk_exports_due")
      .on(table.next_due_at)
      .where(sql`${table.next_due_at} IS NOT NULL`),
    // A range of a schedule is exported only once, however often its spawning is tried.
    uniqueIndex("bulk_exports_by_range")
      .on(table.workspace_id, table.source_id, table.start_time)
      .where(sql`${table.source_id} IS NOT NULL`),
  ],
);

/** A partition of a new export. Times are in microseconds; the end is exclusive. */
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
    /** A JSON object with the keys `retry_<n>`. */
    errors: text(),
    rows_written: integer().notNull().default(0),
    files_written: integer().notNull().default(0),
    /** The cursor after the last row that is certainly in a complete file. */
    latest_cursor: text(),
    /** JSON of the file that is being written, until the file is recorded. */
    pending_upload: text(),
    /** The open multipart upload, for the process that has to abort it. */
    open_upload: text(),
    /** Consecutive steps since the last recorded file that ended without releasing their lease. */
    interruptions: integer().notNull().default(0),
    /** The version of the destination's credentials at the start of the attempt. */
    credentials_version: integer(),
    attempt_started_at: integer(),
    /** The id of the current lease; null when no process works on the run. */
    lease: text(),
    /** When the next step is due; while the run is leased, when the lease ends. */
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
    /** The number of the file in its run, counted from 0 without gaps. */
    number: integer().notNull(),
    /** The key of the object in the bucket. */
    key: text().notNull(),
    rows: integer().notNull(),
    bytes: integer().notNull(),
    first_start: integer().notNull(),
    last_start: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspace_id, table.export_run_id, table.number] })],
);
