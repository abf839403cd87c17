/** Tables that are not created together with a thread: see LATE_TABLES. */
export type LateTable = "events" | "channel_values" | "turns";

/** A migration that changes a late table names it, because it is skipped if that table does not exist yet. */
export type ThreadMigration = string | { table: LateTable; statements: string };

/**
 * The SQLite schema of one thread. There are no indexes except the keys: a thread's tables are small, and every
 * index is one more page that each step of a run writes. Migrations are append-only: an object that was last used
 * by an older release is migrated when it is first opened.
 */
export const THREAD_MIGRATIONS = [
  `
  CREATE TABLE thread (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    thread_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    deployment_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,        -- epoch ms, as all times here
    updated_at INTEGER NOT NULL,
    state_updated_at INTEGER NOT NULL,
    status TEXT NOT NULL,               -- idle | busy | interrupted | error
    settled_status TEXT NOT NULL,       -- what it is when no run is in flight
    graph_id TEXT,                      -- of the latest run or update: reads state with it
    metadata TEXT NOT NULL,
    config TEXT NOT NULL,
    interrupts TEXT NOT NULL,
    error TEXT,
    temporary INTEGER NOT NULL,         -- 1: made by a stateless run, deleted at its end
    deleted INTEGER NOT NULL DEFAULT 0, -- 1: only the index still has to hear of it
    version INTEGER NOT NULL,           -- of what the index shows
    indexed_version INTEGER NOT NULL    -- of what the index has confirmed
  );
  CREATE TABLE runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    assistant_id TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    status TEXT NOT NULL,               -- pending | running | success | error | timeout | interrupted
    multitask_strategy TEXT NOT NULL,
    metadata TEXT NOT NULL,
    resumable INTEGER NOT NULL,
    created_at INTEGER NOT NULL,        -- also when it is due: later than now for after_seconds
    updated_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    next_event INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    stop TEXT,                          -- the result of a run that stopped at an interrupt
    expires_at INTEGER                  -- when the events of an ended run go
  );
  CREATE TABLE events (
    run_seq INTEGER NOT NULL,
    id INTEGER NOT NULL,
    part INTEGER NOT NULL,              -- a row holds at most 2 MB: longer data spans parts
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run_seq, id, part)
  ) WITHOUT ROWID;
  CREATE TABLE texts (
    name TEXT NOT NULL,                 -- values | kwargs:<run_id> | trace-end:<run_id>
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
    channels TEXT NOT NULL,             -- JSON: channel -> id of the checkpoint that wrote its value
    format INTEGER NOT NULL,            -- LangGraph's checkpoint format, its v
    PRIMARY KEY (ns, id)
  ) WITHOUT ROWID;
  CREATE TABLE channel_values (
    ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    part INTEGER NOT NULL,
    type TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (ns, checkpoint_id, channel, part)
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
    PRIMARY KEY (ns, checkpoint_id, task_id, idx, part)
  );
  `,
  // JSON of the principal that the run acts for; removed when the run has ended.
  "ALTER TABLE runs ADD COLUMN principal TEXT",
  // The revision of the deployment that the run started with; null for the graphs of the Worker itself.
  "ALTER TABLE runs ADD COLUMN revision_id TEXT",
  // The path of the task that made the write: LangGraph applies the writes of a superstep in the order of paths.
  "ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT ''",
  // The oldest checkpoint of a namespace that the run wrote, or wrote to: a deletion starts there.
  `
  CREATE TABLE run_starts (
    run_id TEXT NOT NULL,
    ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    PRIMARY KEY (run_id, ns)
  ) WITHOUT ROWID;
  INSERT INTO run_starts (run_id, ns, checkpoint_id)
    SELECT run_id, ns, min(id) FROM
      (SELECT run_id, ns, id FROM checkpoints UNION ALL SELECT run_id, ns, checkpoint_id FROM writes)
    WHERE run_id IS NOT NULL GROUP BY run_id, ns;
  `,
  // JSON of the delivery state of the run's webhook; null for a run without one.
  "ALTER TABLE runs ADD COLUMN webhook TEXT",
  // The action when the thread expires (delete | keep_latest), its time to live, and the time of expiry.
  `
  ALTER TABLE thread ADD COLUMN ttl_strategy TEXT;
  ALTER TABLE thread ADD COLUMN ttl_minutes REAL;
  ALTER TABLE thread ADD COLUMN expires_at INTEGER;
  `,
  // The turns that readers of the thread get, in order; an update of the state has no run.
  `
  CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_seq INTEGER UNIQUE,
    at INTEGER NOT NULL
  );
  `,
  // The place where a run's events begin among those of the thread, that of the next run, and the time of each event.
  `
  ALTER TABLE runs ADD COLUMN first_seq INTEGER;
  ALTER TABLE thread ADD COLUMN next_seq INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE events ADD COLUMN at INTEGER;
  `,
  // The number of events in a row that were written together; null for a single event.
  "ALTER TABLE events ADD COLUMN count INTEGER",
  // The values that the checkpoint changed, except large ones: see packed-values.ts.
  "ALTER TABLE checkpoints ADD COLUMN packed BLOB",
  // The number of a task's writes in a row that were made together; null for a single write.
  "ALTER TABLE writes ADD COLUMN count INTEGER",
  // For a thread that was created without these statements, the number of them that its tables correspond to: see
  // thread-schema.ts.
  "ALTER TABLE thread ADD COLUMN schema_version INTEGER NOT NULL DEFAULT 0",
  // The number of the next run. A number is never used twice.
  `
  ALTER TABLE thread ADD COLUMN next_run INTEGER NOT NULL DEFAULT 1;
  UPDATE thread SET next_run = 1 + (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'runs');
  `,
  // The run's kwargs if they are short; otherwise they are a separate text.
  "ALTER TABLE runs ADD COLUMN kwargs TEXT",
] satisfies readonly ThreadMigration[];
