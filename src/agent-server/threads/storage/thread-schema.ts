import type { LateTable } from "./thread-migrations.ts";

/**
 * The tables of a new thread. This is the result of THREAD_MIGRATIONS, written at once, because each statement of
 * a schema costs rows, too, and most threads are small. A test compares the two, including LATE_TABLES. The
 * differences save rows, but are not worth migrating older threads: `writes` has no rowid, `runs` is numbered by
 * `next_run` of the thread, and the number of migrations is a column instead of a table.
 */
export const THREAD_SCHEMA = `
  CREATE TABLE thread (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    thread_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    deployment_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    state_updated_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    settled_status TEXT NOT NULL,
    graph_id TEXT,
    metadata TEXT NOT NULL,
    config TEXT NOT NULL,
    interrupts TEXT NOT NULL,
    error TEXT,
    temporary INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL,
    indexed_version INTEGER NOT NULL,
    ttl_strategy TEXT,
    ttl_minutes REAL,
    expires_at INTEGER,
    next_seq INTEGER NOT NULL DEFAULT 1,
    schema_version INTEGER NOT NULL DEFAULT 0,
    next_run INTEGER NOT NULL DEFAULT 1
  );
  CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    assistant_id TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    status TEXT NOT NULL,
    multitask_strategy TEXT NOT NULL,
    metadata TEXT NOT NULL,
    resumable INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    next_event INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    stop TEXT,
    expires_at INTEGER,
    principal TEXT,
    revision_id TEXT,
    webhook TEXT,
    first_seq INTEGER,
    kwargs TEXT
  );
  CREATE TABLE texts (
    name TEXT NOT NULL,
    part INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (name, part)
  ) WITHOUT ROWID;
  CREATE TABLE checkpoints (
    ns TEXT NOT NULL,
    id TEXT NOT NULL,
    parent_id TEXT,
    run_id TEXT,
    checkpoint_type TEXT NOT NULL,
    checkpoint BLOB NOT NULL,
    metadata_type TEXT NOT NULL,
    metadata BLOB NOT NULL,
    channels TEXT NOT NULL,
    format INTEGER NOT NULL,
    packed BLOB,
    PRIMARY KEY (ns, id)
  ) WITHOUT ROWID;
  CREATE TABLE writes (
    ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    idx INTEGER NOT NULL,
    part INTEGER NOT NULL,
    run_id TEXT,
    channel TEXT NOT NULL,
    type TEXT NOT NULL,
    data BLOB NOT NULL,
    task_path TEXT NOT NULL DEFAULT '',
    count INTEGER,
    PRIMARY KEY (ns, checkpoint_id, task_id, idx, part)
  ) WITHOUT ROWID;
  CREATE TABLE run_starts (
    run_id TEXT NOT NULL,
    ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    PRIMARY KEY (run_id, ns)
  ) WITHOUT ROWID;
`;

/**
 * Tables that most threads never need. They are created when they are first written to: events for readers that
 * may reconnect, values that are too large for the row of their checkpoint, turns for readers of the thread.
 */
export const LATE_TABLES: Readonly<Record<LateTable, string>> = {
  events: `
    CREATE TABLE events (
      run_seq INTEGER NOT NULL,
      id INTEGER NOT NULL,
      part INTEGER NOT NULL,
      event TEXT NOT NULL,
      data TEXT NOT NULL,
      at INTEGER,
      count INTEGER,
      PRIMARY KEY (run_seq, id, part)
    ) WITHOUT ROWID;
  `,
  channel_values: `
    CREATE TABLE channel_values (
      ns TEXT NOT NULL,
      checkpoint_id TEXT NOT NULL,
      channel TEXT NOT NULL,
      part INTEGER NOT NULL,
      type TEXT NOT NULL,
      data BLOB NOT NULL,
      PRIMARY KEY (ns, checkpoint_id, channel, part)
    ) WITHOUT ROWID;
  `,
  turns: `
    CREATE TABLE turns (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      run_seq INTEGER UNIQUE,
      at INTEGER NOT NULL
    );
  `,
};
