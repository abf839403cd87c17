/** Of a DeploymentLogObject. Append-only: a migration that was released is never edited. */
export const LOG_MIGRATIONS = [
  `
  CREATE TABLE lines (
    -- microseconds since 1970, different for each line: its id and its place in the order
    time INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    revision_id TEXT,
    -- index into LOG_LINE_LEVELS
    level INTEGER NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  CREATE INDEX lines_by_revision ON lines (revision_id, kind, time);
  CREATE INDEX lines_by_kind ON lines (kind, time);
  CREATE TABLE usage (
    -- whole UTC days since 1970
    day INTEGER PRIMARY KEY,
    requests INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    bytes_sent INTEGER NOT NULL,
    bytes_received INTEGER NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE usage ADD COLUMN storage_operations INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN storage_rows INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN storage_bytes INTEGER NOT NULL DEFAULT 0;
  `,
];
